"""The rung of Penstock's job beside its peers: each brings the same records into Iceberg.

They run one after the other, each as a process of its own with a table in Glue and S3 of its own
account. The first records start the system and let its JVM compile. Then it is stopped while a
backlog is written, and what the backlog takes of the CPU is counted.
"""

from __future__ import annotations

import os
import signal
import statistics
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Final

from bench.ladder import Form, Result, least
from bench.spark.records import make_frames, make_versions
from bench.spark.world import World, world_for
from penstock.framing import FrameKind, SchemaKey
from systems.accounts import make_lake, running_aws
from systems.flink import FlinkJob
from systems.iceberg_sink import Workers
from systems.place import Place
from systems.readers import GlueTable
from systems.registry import running_registry
from systems.spark import SparkJob
from systems.subject import DATABASE, Subject
from tools.cpu_time import living_seconds, tree_seconds

_System = type[SparkJob] | type[Workers] | type[FlinkJob]
_SYSTEMS: Final[dict[str, _System]] = {
    "penstock": SparkJob,
    "iceberg_sink": Workers,
    "flink": FlinkJob,
}
_VERSIONS: Final = 5  # as in the topic of `job-iceberg`
_SHARE: Final = 10  # of the records of a run: a backlog
_WARM: Final = 8  # backlogs in which the JVM starts and compiles
_POLL_SECONDS: Final = 0.5
_LONGEST_SECONDS: Final = 300  # of a start with its backlogs, on a machine with much else to do


def _drain_all(form: Form) -> Result:
    world = world_for(form)
    backlog = world.records // _SHARE
    turns: dict[str, list[float]] = {}
    with _running_place(world) as (place, frames):
        for name, system in _SYSTEMS.items():
            topic = _Topic(world, f"peers-{name.replace('_', '-')}", frames)
            turns[name] = [
                backlog / spent for spent in _drain(place, system, topic, backlog, form.turns)
            ]
    ours, *theirs = (statistics.median(each) for each in turns.values())
    parts = {part: figure for name in turns for part, figure in _speeds(name, turns[name])}
    return Result(ours / max(theirs), "times", {"records": float(backlog)} | parts)


def _speeds(name: str, turns: list[float]) -> Iterator[tuple[str, float]]:
    """Yield the rows of a system per second of CPU, and those of its extreme turns."""
    yield f"{name}_rows_per_cpu_second", round(statistics.median(turns))
    yield f"{name}_slowest", round(min(turns))
    yield f"{name}_fastest", round(max(turns))


@dataclass(slots=True)
class _Topic:
    """A topic of one system, which is written backlog by backlog."""

    world: World
    name: str
    frames: list[bytes]
    records: int = 0

    def write(self, records: int) -> None:
        """Write more records."""
        self.world.write([self.name], self.frames, records)
        self.records += records


@contextmanager
def _running_place(world: World) -> Iterator[tuple[Place, list[bytes]]]:
    """Run a registry and AWS beside the broker; yield them, and frames of registered versions."""
    folder = world.new_folder()
    with ExitStack() as stack:
        registry = stack.enter_context(running_registry(folder))
        aws = stack.enter_context(running_aws(folder / "aws"))
        versions = make_versions(_VERSIONS)
        registry.register("peers", [each.schema for each in versions])
        numbered = [
            replace(version, key=SchemaKey(FrameKind.APICURIO, number.to_bytes(8)))
            for version, number in zip(versions, registry.ids["peers"], strict=True)
        ]
        place = Place(world.servers, registry.host, aws, folder, is_quick=False)
        yield place, make_frames(numbered)


def _drain(
    place: Place, system: _System, topic: _Topic, backlog: int, turns: int
) -> Iterator[float]:
    """Let a system bring backlogs into its table; yield the CPU seconds of each that counts."""
    topic.write(_WARM * backlog)
    make_lake(place.aws, system.account, DATABASE)
    table = GlueTable(place.aws, system.account, f"{DATABASE}.{topic.name.replace('-', '_')}")
    with closing(system(place, topic.name)) as subject:
        subject.start()
        _await_rows(subject, table, topic.records)
        for _ in range(turns):
            with _stopped(subject.pid):
                topic.write(backlog)
            spent = tree_seconds(subject.pid)
            _await_rows(subject, table, topic.records)
            yield tree_seconds(subject.pid) - spent
    found = table.count_rows()
    assert found == topic.records, f"{table.name} has {found} rows, expected {topic.records}"


def _await_rows(subject: Subject, table: GlueTable, rows: int) -> None:
    """Wait until the newest snapshot says that the table has these rows."""
    until = time.monotonic() + _LONGEST_SECONDS
    while (found := table.count()) < rows:
        if time.monotonic() > until:
            trouble = subject.describe_trouble()
            raise TimeoutError(f"{table.name} has {found} rows, expected {rows}: {trouble}")
        time.sleep(_POLL_SECONDS)


@contextmanager
def _stopped(root: int) -> Iterator[None]:
    """Stop a process and its descendants while the block lasts."""
    pids = [pid for pid, _ in living_seconds(root)]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            with suppress(ProcessLookupError):  # it has been killed
                os.kill(pid, signal.SIGCONT)


PEERS = (
    least(
        "peers",
        "How many rows a second does one core bring into Iceberg, against Kafka Connect's sink and"
        " Flink?",
        1,
        _drain_all,
    ),
)
