"""Run rooms in parallel: one per core, and beside them those that mostly wait."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tools.suite.report import Result, mend, read_outcomes
from tools.suite.rooms import Room

Tell = Callable[[Result], None]

LOGS = Path(".cache/tests")  # in the clone: ROOM.log and ROOM.xml

_SPARK_ROOMS = 3  # at most, however many cores: each takes four gigabytes
_MOST_AGAIN = 3  # failed tests
_POLL_SECONDS = 0.1
_MEASURED = ("-p", "tools.suite.cpu_time")
# Each room would compile localcloud and the fixtures again: 2.3 to 4 CPU seconds of its start.
_NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"
_END_SECONDS = 60  # given to brokers and Spark when the suite is interrupted


@dataclass(frozen=True, slots=True)
class Suite:
    """All rooms, and the clone that they are in."""

    rooms: Sequence[Room]
    clone: Path


@dataclass(frozen=True, slots=True)
class Run:
    """A running room."""

    room: Room
    process: subprocess.Popen[bytes]
    report: Path  # of the room's name, or of that name with `-again`
    started: float

    def poll(self) -> Result | None:
        """Return the result once the process has ended."""
        pid, status, used = os.wait4(self.process.pid, os.WNOHANG)
        if not pid:
            return None
        code = self.process.returncode = os.waitstatus_to_exitcode(status)
        outcomes = read_outcomes(self.report)
        # A driver's JVM that nobody waited for is counted with its tests alone.
        cpu = max(used.ru_utime + used.ru_stime, sum(each.cpu for each in outcomes))
        return Result(self.report.stem, outcomes, time.monotonic() - self.started, cpu, code)


def run_rooms(
    rooms: Sequence[Room], suite: Suite, cores: int, tell: Tell, *, again: bool = False
) -> list[Result]:
    """Run rooms of a suite and return their results; `tell` gets each result as it arrives.

    At most `cores` rooms run in parallel, and rooms that mostly wait run beside them. With
    `again`, only the tests run that failed before.
    """
    # A shell starts background jobs with SIGINT ignored; the rooms would inherit that.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    left, running, results = list(rooms), list[Run](), list[Result]()
    try:
        while left or running:
            while room := _next(left, [run.room for run in running], cores):
                left.remove(room)
                running.append(_start(room, suite, again=again))
            time.sleep(_POLL_SECONDS)
            for run in list(running):
                if result := run.poll():
                    running.remove(run)
                    results.append(result)
                    tell(result)
    finally:
        _end(running)
    return results


def run_again(results: Iterable[Result], suite: Suite, tell: Tell) -> list[Result]:
    """Run failed tests once more, one room after the other, and return all results.

    More than `_MOST_AGAIN` are no accident of a busy machine, nor is a room that ended by itself,
    or one of which every failure is a finding.
    """
    found = list(results)
    failed = [(at, result) for at, result in enumerate(found) if result.failed]
    if sum(result.failed for _, result in failed) > _MOST_AGAIN:
        return found
    for at, result in failed:
        (room,) = (each for each in suite.rooms if each.name == result.room)
        if room.once or result.code != pytest.ExitCode.TESTS_FAILED:
            continue
        (again,) = run_rooms([room], suite, 1, tell, again=True)
        found[at] = mend(result, again)
    return found


def _next(left: Iterable[Room], running: Sequence[Room], cores: int) -> Room | None:
    return next((room for room in left if may_start(room, running, cores)), None)


def may_start(room: Room, running: Sequence[Room], cores: int) -> bool:
    """Return whether a room may start beside the running ones.

    A room with Spark computes even while it waits: there is one for each core, three at most.
    """
    if room.spark and sum(other.spark for other in running) >= min(cores, _SPARK_ROOMS):
        return False
    return room.waits or sum(not other.waits for other in running) < cores


def _start(room: Room, suite: Suite, *, again: bool) -> Run:
    folder = suite.clone / LOGS
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{room.name}-again" if again else room.name
    report = folder / f"{name}.xml"
    report.unlink(missing_ok=True)
    words = [f"--ignore={path}" for path in room.others_below(suite.rooms)]
    words += [f"--junitxml={report}", "-o", f"cache_dir={folder / room.name}"]
    words += ["--last-failed", "--last-failed-no-failures=none"] if again else []
    yielding = [] if room.longest else ["nice", "-n", "5"]
    environ = {name: value for name, value in os.environ.items() if name != _NO_BYTECODE}
    with (folder / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(
            [*yielding, sys.executable, "-m", "pytest", *_MEASURED, room.path, *words],
            cwd=suite.clone,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            process_group=0,  # ctrl-C reaches it once, through _end
        )
    return Run(room, process, report, time.monotonic())


def _end(running: Iterable[Run]) -> None:
    """Interrupt the running rooms: pytest then ends its brokers and Spark drivers."""
    for run in running:
        run.process.send_signal(signal.SIGINT)
    for run in running:
        try:
            run.process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            run.process.kill()
            run.process.wait()
