"""The rooms of the suite: folders of tests that each run in a pytest process of their own.

pytest-xdist would start every server that a test needs in each worker, and cannot bound how many
Spark sessions run. Threads share moto's backends, patches and environment variables.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Room:
    """A folder of tests, without the folders below it that are rooms of their own."""

    name: str
    path: str
    waits: bool = False  # waits for Terraform, leases or functions, so it needs no core of its own
    spark: bool = False  # runs Spark drivers, JVMs of a gigabyte
    longest: bool = False  # the others yield to it, which ends last anyway
    once: bool = False  # a failure is a finding, even if it does not come again

    def others_below(self, rooms: Iterable[Room]) -> list[str]:
        """Return the paths below this one that are other rooms."""
        paths = [room.path for room in rooms if room is not self]
        return [path for path in paths if Path(path).is_relative_to(self.path)]


# In the order in which they start: the longest first. Those that compute and never wait come last,
# so that no core is idle at the end.
ROOMS = (
    Room("e2e", "tests/e2e", waits=True, spark=True, longest=True),
    Room("spark", "tests/spark", spark=True, longest=True),
    Room("localcloud-kafka", "localcloud/tests/kafka"),
    Room("localcloud", "localcloud/tests", waits=True),
    Room("applied", "tests/applied", waits=True),
    Room("localcloud-mappings", "localcloud/tests/mappings"),
    Room("faults", "tests/faults", waits=True, spark=True, once=True),
    Room("lambdas", "tests/lambdas"),
    Room("kafka", "tests/kafka"),
    Room("browser", "tests/browser"),
    Room("registries", "tests/registries"),
    Room("simulation", "tests/simulation", once=True),
    Room("oracle", "tests/oracle"),
    Room("infra", "tests/infra"),
    Room("unit", "tests/unit"),
    Room("unit-schemas", "tests/unit/schemas"),
    Room("unit-sinks", "tests/unit/sinks"),
    Room("unit-registry", "tests/unit/registry"),
    Room("unit-structure", "tests/unit/structure"),
    Room("localcloud-unit", "localcloud/tests/unit"),
)


def check_rooms(rooms: Iterable[Room], files: Iterable[Path]) -> list[str]:
    """Return a problem for each test file that is in no room, and for each room without tests."""
    held = {room.path: 0 for room in rooms}
    problems = []
    for file in files:
        holding = [path for path in held if file.is_relative_to(path)]
        if holding:
            held[max(holding, key=len)] += 1
        else:
            problems.append(f"{file} is in no room: add one to tools/suite/rooms.py")
    empty = [path for path, count in held.items() if not count]
    return [
        *problems,
        *(f"{path} is a room in tools/suite/rooms.py without tests" for path in empty),
    ]
