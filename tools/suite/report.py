"""Read the outcomes and times of tests from JUnit reports, and show them as tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from xml.etree import ElementTree

from tools.suite.cpu_time import PROPERTY

_SLOWEST = 10
_PROBLEMS = ("failure", "error")


@dataclass(frozen=True, slots=True)
class Outcome:
    """One test, with its wall and CPU seconds."""

    name: str
    wall: float
    cpu: float
    failed: bool
    skipped: bool = False  # this machine lacks what it needs
    again: bool = False  # failed at first, and passed when it ran again

    @property
    def passed(self) -> bool:
        """Return whether it ran and did not fail."""
        return not (self.failed or self.skipped)


@dataclass(frozen=True, slots=True)
class Result:
    """A room that ran: its tests, its seconds and the exit code of its process."""

    room: str
    tests: tuple[Outcome, ...]
    wall: float
    cpu: float
    code: int

    @property
    def passed(self) -> int:
        """Return the number of tests that passed."""
        return sum(test.passed for test in self.tests)

    @property
    def skipped(self) -> int:
        """Return the number of tests that were skipped."""
        return sum(test.skipped for test in self.tests)

    @property
    def failed(self) -> int:
        """Return the number of tests that failed, at least 1 if the process itself failed."""
        return max(sum(test.failed for test in self.tests), int(self.code != 0))


def read_outcomes(path: Path) -> tuple[Outcome, ...]:
    """Return the outcomes in a JUnit report; a process that crashed has left none."""
    if not path.exists():
        return ()
    cases = ElementTree.parse(path).iter("testcase")  # noqa: S314 - pytest wrote it
    return tuple(_read_outcome(case) for case in cases)


def _read_outcome(case: ElementTree.Element) -> Outcome:
    used = case.find(f"properties/property[@name='{PROPERTY}']")
    return Outcome(
        f"{case.get('classname', '')}::{case.get('name', '')}",
        float(case.get("time", 0)),
        0 if used is None else float(used.get("value", 0)),
        any(case.find(problem) is not None for problem in _PROBLEMS),
        case.find("skipped") is not None,
    )


def mend(result: Result, again: Result) -> Result:
    """Return the result of a room after its failed tests ran again."""
    passed = {test.name for test in again.tests if test.passed}
    tests = tuple(
        replace(test, failed=False, again=True) if test.failed and test.name in passed else test
        for test in result.tests
    )
    left = again.failed or any(test.failed for test in tests)
    code = result.code if left else 0
    return replace(result, tests=tests, cpu=result.cpu + again.cpu, code=code)


def show_results(results: Sequence[Result], wall: float) -> str:
    """Show the slowest rooms and tests, those that had to run again, and the totals at last."""
    tests = [test for result in results for test in result.tests]
    cpu = sum(result.cpu for result in results)
    counts = {
        "passed": sum(result.passed for result in results),
        "skipped": sum(result.skipped for result in results),
        "failed": sum(result.failed for result in results),
    }
    again = [f"passed only when it ran again, alone: {it.name}" for it in tests if it.again]
    return "\n".join(
        [
            *_table("rooms", [(it.wall, it.cpu, it.room) for it in results]),
            *_table("tests", [(it.wall, it.cpu, it.name) for it in tests]),
            *(["", *again] if again else []),
            f"\n{wall:.0f} s in all, {cpu:.0f} s of CPU",
            ", ".join(f"{count} {what}" for what, count in counts.items()),
        ]
    )


def _table(what: str, rows: Sequence[tuple[float, float, str]]) -> list[str]:
    slowest = sorted(rows, reverse=True)[:_SLOWEST]
    heading = f"\n  wall s     CPU s  slowest {what}"
    return [heading, *(f"{wall:8.1f}  {cpu:8.1f}  {name}" for wall, cpu, name in slowest)]
