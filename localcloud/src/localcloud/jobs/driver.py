"""The process of a job: a spark-submit in its own group, its output, its end."""

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
    """A command and its folder; each output goes to its own file and to the common log."""

    command: tuple[str, ...]
    folder: Path
    variables: Mapping[str, str] = field(repr=False)
    stdout: Path
    stderr: Path
    log: Path


class Driver:
    """A job's driver and everything that it starts; `outputs` are its error and output files.

    The constructor starts it.
    """

    def __init__(self, launch: DriverLaunch) -> None:
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
        """The process id, which is also the id of its group."""
        return self._child.pid

    @property
    def exit_code(self) -> int | None:
        """The exit code, None while it runs."""
        return self._child.exit_code

    def wait(self, timeout_seconds: float | None) -> int | None:
        """Wait for the end and return the exit code, None after the timeout."""
        code = self._child.wait(timeout_seconds)
        if code is not None:
            for pump in self._pumps:
                pump.join()
        return code

    def end(self, grace_seconds: float) -> None:
        """Send SIGTERM, and SIGKILL after the grace period; return at once."""
        if grace_seconds <= 0:
            self._child.kill()
            return
        self._child.send_signal(signal.SIGTERM)
        killing = threading.Timer(grace_seconds, self._child.kill)
        killing.daemon = True
        killing.start()


def _pump(pipe: IO[bytes], target: Path, log: Path) -> None:
    """Copy lines from a pipe to their own file and to the common log."""
    with pipe, target.open("ab", 0) as own, log.open("ab", 0) as shared:
        for line in pipe:
            own.write(line)
            shared.write(line)
