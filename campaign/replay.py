"""The replay of the job's dead letters, which may read a registry that the job may not.

The job gives records of that registry up as `forbidden-schema`, and a replay with a longer
allow-list makes rows of them (docs/operate/failed-records.md).
"""

from __future__ import annotations

import json
from threading import Lock
from typing import Final

from systems.moments import REPLAYED
from systems.supervised import SupervisedJob
from systems.traps import Trap
from systems.world import World

_NAME: Final = "yard"
_FIELDS: Final = {
    "deviceId": "string",
    "timestamp": "long",
    "sender": "string",
    "number": "long",
    "dock": "string",
}
_DEFINITION: Final = json.dumps(
    {
        "type": "record",
        "name": "sensor",  # one table has one record
        "fields": [{"name": name, "type": kind} for name, kind in _FIELDS.items()],
    }
)
_GIVEN: Final = (
    *("--errors-table", "--parked-bucket", "--lake-table", "--dynamodb-table"),
    *("--mode", "--sort-name", "--lease-seconds", "--heartbeat-seconds"),
)


class Replays:
    """Replays of a job's dead letters, one at a time.

    `other` is the id and the definition of the schema that only they may read.
    """

    def __init__(self, world: World, job: SupervisedJob) -> None:
        self._world, self._job = world, job
        self._lock = Lock()
        registry = f"{world.name}-{_NAME}"
        world.glue.create_registry(RegistryName=registry)
        made = world.glue.create_schema(
            RegistryId={"RegistryName": registry}, SchemaName=_NAME, DataFormat="AVRO",
            Compatibility="BACKWARD", SchemaDefinition=_DEFINITION,
        )  # fmt: skip
        self.other: tuple[str, str] = (made["SchemaVersionId"], _DEFINITION)
        given = world.arguments
        allowed = "".join(f"&allow={name}/*" for name in (world.name, registry))
        arguments = {
            "--registry": given["--registry"] + allowed,
            "--consume-checkpoint": given["--checkpoint"],
            **{name: given[name] for name in _GIVEN},
        }
        self._words = ["replay", *(word for pair in arguments.items() for word in pair)]

    def run(self) -> None:
        """Replay all that is open."""
        with self._lock:
            self._job.run_beside(self._world.launch(self._words))

    def kill(self, moment: str) -> bool:
        """Replay, and kill that at a moment; return whether it came."""
        killed: list[bool] = []
        trap = Trap(*REPLAYED[moment], program="replay")
        wrapped = self._world.faults.wrapped(trap.around)
        with self._lock, wrapped, self._world.launch(self._words) as process:
            trap.kill = lambda: killed.append(self._job.kill(process))
            self._job.run_beside(process)
        return any(killed)
