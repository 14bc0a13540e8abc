"""The Spark job, started again whenever it ends, as EMR Serverless does with a streaming job."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Lock, Thread
from typing import Final

from localcloud.testing import ask_for
from systems.killing import JobProcess
from systems.processes import End, is_stopped, read_mb

_POLL_SECONDS: Final = 0.5
_AGAIN_SECONDS: Final = 1.0
_KILL_SECONDS: Final = 10.0
_END_SECONDS: Final = 300.0
_RUN_SECONDS: Final = 300.0
_SAID: Final = 100_000  # characters: the names of errors come before Spark's plans
_KILLED: Final = -9
_BATCH: Final = '"BatchDuration"'  # in the line that a driver prints for each of its batches


@dataclass(frozen=True, slots=True)
class Stall:
    """A stall of a driver: it stood still or not, and what went wrong as another one took over."""

    stood_still: bool
    trouble: str


class SupervisedJob:
    """A job that always runs; `lock` keeps two faults from meeting in it."""

    def __init__(self, start: Callable[[], JobProcess]) -> None:
        self.ends: list[End] = []
        self.starts = 0
        self.peak_mb = 0
        self.lock = Lock()
        self._start = start
        self._killed: set[int] = set()
        self._stopped = Event()
        self._process = self._begin()
        self._thread = Thread(target=self._supervise, name="supervisor", daemon=True)

    @property
    def pid(self) -> int:
        """The id of the driver's process, and of the group with its Python."""
        return self._process.pid

    def tell(self) -> str:
        """Return the end of what the driver has printed."""
        return self._process.tell(_SAID)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Supervise it as long as the block lasts."""
        self._thread.start()
        try:
            yield
        finally:
            self._stopped.set()
            self._thread.join()
            self._process.__exit__()

    def find_working(self) -> JobProcess:
        """Wait for a driver that has written a batch: if each died before, none would be."""
        if trouble := self._await_working():
            raise TimeoutError(trouble)
        return self._process

    def kill(self, other: JobProcess | None = None) -> bool:
        """Kill the driver, or another program, with -9; return whether that ended it."""
        process = other or self._process
        self._killed.add(process.pid)
        process.kill()
        ask_for(lambda: process.code is not None, _KILL_SECONDS)
        return process.code == _KILLED

    def end(self) -> bool:
        """Ask the driver to end; return whether it did."""
        process = self._process
        self._killed.add(process.pid)
        process.terminate()
        return ask_for(lambda: process.code is not None, _END_SECONDS)

    def stop(self, seconds: float) -> bool:
        """Stop it for some time; return whether it stood still."""
        process = self.find_working()
        process.stop()
        time.sleep(seconds)
        stood_still = is_stopped(process.pid)
        process.wake()
        return stood_still

    def stall(self, seconds: float) -> Stall:
        """Stop it while another one begins and takes over, and wake it, which must end it."""
        with self.find_working() as stalled:
            stalled.stop()
            self._process = self._begin()
            time.sleep(seconds)
            trouble = self._await_working()  # a start may take longer
            stood_still = is_stopped(stalled.pid)
            stalled.wake()
            if ask_for(lambda: stalled.code is not None, _END_SECONDS):
                self.ends.append(End(stalled.code or 0, stalled.tell(_SAID)))
            else:
                trouble = trouble or f"it did not end in {_END_SECONDS:.0f} s when it woke"
        return Stall(stood_still, trouble)

    def run_beside(self, other: JobProcess) -> bool:
        """Run another program; return whether it ended. If it fails by itself, that is an end."""
        with other:
            is_over = ask_for(lambda: other.code is not None, _RUN_SECONDS)
            if other.code and other.pid not in self._killed:
                self.ends.append(End(other.code, other.tell(_SAID)))
        return is_over

    def _await_working(self) -> str:
        is_working = ask_for(
            lambda: self._process.code is None and _BATCH in self.tell(), _RUN_SECONDS
        )
        return "" if is_working else f"no driver has written a batch for {_RUN_SECONDS:.0f} s"

    def _begin(self) -> JobProcess:
        self.starts += 1
        return self._start()

    def _supervise(self) -> None:
        while not self._stopped.wait(_POLL_SECONDS):
            process = self._process
            self.peak_mb = max(self.peak_mb, read_mb(process.pid, "VmHWM"))
            if process.code is None:
                continue
            if process.pid not in self._killed:
                self.ends.append(End(process.code, process.tell(_SAID)))
            time.sleep(_AGAIN_SECONDS)
            self._process = self._begin()
