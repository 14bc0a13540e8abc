"""The process of a job: a spark-submit in a group of its own, its output, its end."""

from __future__ import annotations

import signal
import subprocess
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from localcloud.children import Child, supervised


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
        self._child = Child(
            supervised(launch.command),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            folder=launch.folder,
            variables=launch.variables,
        )
        self._pumps = [
            threading.Thread(target=_pump, args=(pipe, target, launch.log), daemon=True)
            for pipe, target in (
                (self._child.stdout, launch.stdout),
                (self._child.stderr, launch.stderr),
            )
        ]
        for pump in self._pumps:
            pump.start()

    @property
    def pid(self) -> int:
        """The process's id, which is that of its group."""
        return self._child.pid

    def wait(self, timeout_seconds: float | None) -> int | None:
        """Wait for its end and return its exit code, None where the time is over before."""
        code = self._child.wait(timeout_seconds)
        if code is not None:
            for pump in self._pumps:
                pump.join()
        return code

    def end(self, grace_seconds: float) -> None:
        """Ask it to end, and kill it after that time; returns at once."""
        if grace_seconds <= 0:
            self._child.kill()
            return
        self._child.send_signal(signal.SIGTERM)
        killing = threading.Timer(grace_seconds, self._child.kill)
        killing.daemon = True
        killing.start()


def _pump(pipe: IO[bytes], target: Path, log: Path) -> None:
    """Move lines from a pipe to a file of their own and to the log that has all of them."""
    with pipe, target.open("ab", 0) as own, log.open("ab", 0) as shared:
        for line in pipe:
            own.write(line)
            shared.write(line)
