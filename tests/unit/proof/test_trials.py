"""Trials of systems that are made up, under faults that are real."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain, repeat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from localcloud.faults import Fault
from proof.faults import kinds, run, tended
from proof.faults.kinds import FAULTS, FaultKind, Scene
from proof.faults.oracle import Record
from proof.faults.results import Outcome
from systems.place import Place

_TOPIC = [Record(f"{number}", b"value %d" % number) for number in range(3)]
_ALL = [each.id for each in _TOPIC]
_SECONDS = 5.0


@dataclass
class _System:
    """A system with its table; it writes nothing by itself."""

    rows: list[str] = field(default_factory=lambda: [*_ALL])
    killed: bool = True
    kills: int = 0
    stalls: int = 0
    restarts: int = 0
    account: str = "111111111111"
    tend: Callable[[], None] = lambda: None
    describe_trouble: Callable[[], str] = lambda: ""
    count: Callable[[], int] = field(init=False)

    def __post_init__(self) -> None:
        self.count = lambda: len(self.rows)

    def start(self) -> None: ...

    def close(self) -> None: ...

    def kill(self) -> bool:
        self.kills += 1
        return self.killed

    def stall(self, seconds: float) -> bool:
        self.stalls += 1
        return True

    def letters(self) -> list[bytes]:
        return []

    def read_ids(self) -> list[str]:
        return [*self.rows]


class _Faults:
    """Faults of AWS, each of which meets so many calls as the next number says."""

    def __init__(self, *broken: int) -> None:
        self._broken = chain(broken, repeat(0))

    def add(self, **settings: Any) -> Fault:
        return Fault(1, **settings, broken=next(self._broken))

    def clear(self) -> None: ...


@pytest.fixture
def happen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    """Let a fault happen to a system, and count."""
    for module, name, value in (
        *((run, "_AFTER_SECONDS", 0), (run, "_POLL_SECONDS", 0.01)),
        *((kinds, "_WAIT_SECONDS", 0.01), (kinds, "_HELD_SECONDS", 0), (kinds, "_PAUSE", (0, 0))),
        (tended, "_AGAIN_SECONDS", 0.01),
    ):
        monkeypatch.setattr(module, name, value, raising=False)
    sender = SimpleNamespace(sent=len(_TOPIC), close=lambda: _TOPIC)
    monkeypatch.setattr(run, "Sender", lambda *_: sender)

    def happen(fault: FaultKind, system: _System, *broken: int, quiet: float = 0.3) -> Any:
        monkeypatch.setattr(run, "FAULTS", {"fault": fault})
        monkeypatch.setattr(run, "SYSTEMS", {"system": lambda *_: system})
        monkeypatch.setattr(run, "GlueTable", lambda *_: system)
        faults = _Faults(*broken)
        cloud: Any = SimpleNamespace(state=lambda _: faults)
        nothing: Any = None
        place = Place("", "", "", tmp_path)
        stage = run.Stage(place, nothing, nothing, cloud, 1, quiet)
        return stage.run("fault", ["system"])["system"]

    yield happen
    assert not [each for each in threading.enumerate() if each.name == "tending"]


def _ends_well(scene: Scene) -> bool:
    return True


def test_a_process_that_ends_while_a_fault_happens_is_begun_again(happen: Any) -> None:
    begun = threading.Event()

    def await_begun(_: Scene) -> bool:
        return begun.wait(_SECONDS)

    assert happen(FaultKind("A fault", await_begun), _System(tend=begun.set))


def test_a_process_that_is_killed_is_not_begun_twice(happen: Any) -> None:
    killing, met = threading.Event(), []
    system = _System(tend=lambda: met.append(killing.is_set()))

    def kill() -> bool:
        killing.set()
        time.sleep(0.1)
        killing.clear()
        return True

    def kill_often(scene: Scene) -> bool:
        return all(scene.tended.kill() for _ in range(3))

    system.kill = kill  # type: ignore[method-assign]
    assert happen(FaultKind("A fault", kill_often), system)
    assert met
    assert not any(met)


def test_a_process_that_cannot_be_begun_again_is_told_and_counted(happen: Any) -> None:
    def fail() -> None:
        raise OSError("no memory")

    system = _System(rows=["0"], tend=fail)
    outcome: Outcome = happen(FaultKind("A fault", _ends_well), system)

    assert (outcome.count.lost, outcome.trouble) == (2, "OSError: no memory")


def test_trouble_that_is_over_is_told_no_more(happen: Any) -> None:
    errors, over = iter([OSError("no memory"), None, None]), threading.Event()

    def fail_once() -> None:
        error = next(errors, over)
        if isinstance(error, OSError):
            raise error
        if error is over:
            over.set()

    system = _System(tend=fail_once)
    outcome: Outcome = happen(FaultKind("A fault", lambda _: over.wait(60)), system)

    assert outcome.trouble == ""


def test_a_system_that_does_not_say_its_trouble_is_counted(happen: Any) -> None:
    def fail() -> str:
        raise ConnectionRefusedError("no worker")

    outcome: Outcome = happen(FaultKind("A fault", _ends_well), _System(describe_trouble=fail))

    assert (outcome.count.lost, outcome.trouble) == (0, "ConnectionRefusedError: no worker")


@pytest.mark.parametrize(
    ("name", "broken", "kills"),
    [
        ("killed", [1], 1),
        ("killed-first", [1], 1),
        ("two-at-once", [1], 0),
        ("commit-cut", [1], 0),
        ("commit-refused", [3], 0),
    ],
)
def test_a_system_that_stops_for_good_after_a_fault_is_counted(
    happen: Any, name: str, broken: list[int], kills: int
) -> None:
    """It is killed once more by hand."""
    system = _System(rows=["0"])
    outcome: Outcome = happen(FAULTS[name], system, *broken)

    assert outcome.count.lost == 2
    assert system.kills == kills + 1


def test_a_series_of_faults_is_as_long_as_the_system_goes_on(happen: Any) -> None:
    system = _System(rows=["0"])
    counts = chain(range(1, 20), repeat(20))
    system.count = lambda: next(counts)

    assert happen(FAULTS["killed"], system, 1, 1)
    assert system.kills == 3 + 1


@pytest.mark.parametrize("name", ["killed-first", "two-at-once", "commit-cut", "commit-refused"])
def test_without_a_commit_there_is_no_trial(happen: Any, name: str) -> None:
    system = _System()

    assert happen(FAULTS[name], system) is None
    assert (system.kills, system.stalls) == (0, 0)


@pytest.mark.parametrize("name", ["killed", "killed-first"])
def test_a_process_that_no_kill_ended_is_no_trial(happen: Any, name: str) -> None:
    assert happen(FAULTS[name], _System(killed=False), 1, 1) is None


def test_a_row_that_comes_twice_after_all_is_there_is_counted(happen: Any) -> None:
    system = _System()
    counts = iter(range(4))

    def count() -> int:
        if next(counts, 0) == 3:
            system.rows.append("1")
        return len(system.rows)

    system.count = count
    outcome: Outcome = happen(FaultKind("A fault", _ends_well), system, quiet=1)

    assert (outcome.count.twice, system.kills) == (1, 0)


def test_a_system_that_writes_rows_again_for_ever_is_counted(
    happen: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "_LONGEST_SECONDS", 0.3, raising=False)
    system = _System(rows=["0"])

    def count() -> int:
        system.rows.append("0")
        return len(system.rows)

    system.count = count
    outcome: Outcome = happen(FaultKind("A fault", _ends_well), system, quiet=60)

    assert outcome.count.lost == 2
    assert outcome.count.twice > 10
