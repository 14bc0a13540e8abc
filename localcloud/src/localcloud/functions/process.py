"""The process of an execution environment: start, memory limit and end."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from localcloud.children import Child
from localcloud.functions.log_streams import LogStream, OutputPump

_WATCH_SECONDS = 0.5
_MEGABYTE = 1024  # in the kilobytes of /proc


@dataclass(frozen=True, slots=True)
class Launch:
    """A command with its folder, variables and memory limit."""

    command: list[str]
    folder: Path
    variables: dict[str, str] = field(repr=False)
    memory_mb: int


class FunctionProcess:
    """A process in its own group, which ends together with the handler's children.

    The constructor starts it; `on_exit` gets its return code, negative for a signal.
    """

    def __init__(self, launch: Launch, stream: LogStream, on_exit: Callable[[int], None]) -> None:
        self._memory_kb = launch.memory_mb * _MEGABYTE
        self._on_exit = on_exit
        self._max_kb = 0
        self._child = Child(
            launch.command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            folder=launch.folder,
            variables=launch.variables,
        )
        self._output = OutputPump(self._child.stdout, stream)
        threading.Thread(target=self._watch, daemon=True).start()

    @property
    def pid(self) -> int:
        """The process id, which is also the id of its group."""
        return self._child.pid

    def drain_output(self) -> None:
        """Write everything printed so far to the log."""
        self._output.drain()

    def measure_memory_mb(self) -> int:
        """Return the peak memory in whole megabytes; after the end the last known value."""
        self._max_kb = max(self._max_kb, _read_status(self.pid, "VmHWM"))
        return -(-self._max_kb // _MEGABYTE)

    def freeze(self) -> None:
        """Stop it and everything it started, until it is thawed."""
        os.killpg(self.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on where it was frozen."""
        os.killpg(self.pid, signal.SIGCONT)

    def kill(self) -> None:
        """Kill it and everything it started."""
        self._child.kill()

    def _watch(self) -> None:
        """Wait for the end; kill a process that exceeds the function's memory."""
        while (code := self._child.wait(_WATCH_SECONDS)) is None:
            if _read_status(self.pid, "VmRSS") > self._memory_kb:
                self.measure_memory_mb()
                self.kill()
        self._on_exit(code)


def _read_status(pid: int, field: str) -> int:
    with suppress(OSError):
        found = re.search(rf"{field}:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
        return int(found[1]) if found else 0
    return 0
