"""The process of an execution environment: how it is started, watched and ended."""

from __future__ import annotations

import re
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
    """What to start, where, and with how much memory."""

    command: list[str]
    folder: Path
    variables: dict[str, str] = field(repr=False)
    memory_mb: int


class FunctionProcess:
    """A process in a group of its own, so that what a handler starts ends with it."""

    def __init__(self, launch: Launch, stream: LogStream, on_exit: Callable[[int], None]) -> None:
        """Start it; `on_exit` gets its return code, negative for a signal."""
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
        """The process's id, which is that of its group."""
        return self._child.pid

    def drain_output(self) -> None:
        """Have everything that was printed until now in the log."""
        self._output.drain()

    def measure_memory_mb(self) -> int:
        """The most memory it ever had, in whole megabytes; the last known after its end."""
        self._max_kb = max(self._max_kb, _read_status(self.pid, "VmHWM"))
        return -(-self._max_kb // _MEGABYTE)

    def kill(self) -> None:
        """End it and everything it started, at once."""
        self._child.kill()

    def _watch(self) -> None:
        """Wait for its end; a process that uses more memory than the function has is killed."""
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
