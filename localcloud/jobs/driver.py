"""The process of a job: a spark-submit in a group of its own, its output, its end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

# The standard input is a pipe from localcloud that nobody writes to: the kernel ends it when
# localcloud is gone, by kill -9 too, and then the group goes as well. A JVM cannot watch it.
_SUPERVISE = """
import _thread, os, signal, subprocess, sys

def end_with_localcloud(pipe):
    os.read(pipe, 1)
    os.killpg(0, 9)

_thread.start_new_thread(end_with_localcloud, (os.dup(0),))
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
signal.signal(signal.SIGTERM, lambda *_: None)  # the group is asked to end, and the job answers
code = subprocess.call(sys.argv[1:])
sys.exit(code if code >= 0 else 128 - code)
"""


@dataclass(frozen=True, slots=True)
class DriverLaunch:
    """What to start and where; what it prints goes to two files and, both, to the log."""

    command: tuple[str, ...]
    folder: Path
    variables: Mapping[str, str] = field(repr=False)
    stdout: Path
    stderr: Path
    log: Path


class Driver:
    """A job's driver, and everything that it starts."""

    def __init__(self, launch: DriverLaunch) -> None:
        """Start it; `outputs` is where its errors are and where its output is."""
        self.outputs = (launch.stderr, launch.stdout)
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-c", _SUPERVISE, *launch.command],
            cwd=launch.folder,
            env=dict(launch.variables),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        process = self._process
        assert process.stdin and process.stdout and process.stderr  # noqa: S101 - all are pipes
        self._lifeline = process.stdin
        self._pumps = [
            threading.Thread(target=_pump, args=(pipe, target, launch.log), daemon=True)
            for pipe, target in ((process.stdout, launch.stdout), (process.stderr, launch.stderr))
        ]
        for pump in self._pumps:
            pump.start()

    @property
    def pid(self) -> int:
        """The process's id, which is that of its group."""
        return self._process.pid

    def wait(self, timeout_seconds: float | None) -> int | None:
        """Wait for its end and return its exit code, None where the time is over before."""
        try:
            code = self._process.wait(timeout_seconds)
        except subprocess.TimeoutExpired:
            return None
        self._signal(signal.SIGKILL)  # what it left behind, which also holds the pipes
        for pump in self._pumps:
            pump.join()
        self._lifeline.close()
        return code

    def end(self, grace_seconds: float) -> None:
        """Ask it to end, and kill it after that time; returns at once."""
        if grace_seconds <= 0:
            self._signal(signal.SIGKILL)
            return
        self._signal(signal.SIGTERM)
        killing = threading.Timer(grace_seconds, self._signal, (signal.SIGKILL,))
        killing.daemon = True
        killing.start()

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.pid, number)


def _pump(pipe: IO[bytes], target: Path, log: Path) -> None:
    """Move lines from a pipe to a file of their own and to the log that has all of them."""
    with pipe, target.open("ab", 0) as own, log.open("ab", 0) as shared:
        for line in pipe:
            own.write(line)
            shared.write(line)
