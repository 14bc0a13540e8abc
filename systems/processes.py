"""Read the state and the memory of a process from /proc."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class End:
    """An end that no fault caused: the exit code, and the end of what the process printed."""

    code: int
    said: str


def is_stopped(pid: int) -> bool:
    """Return whether a process is stopped by a signal."""
    return _read_status(pid, "State").startswith("T")


def read_mb(pid: int, name: str = "VmRSS") -> int:
    """Return the memory of a process, now or at most (VmHWM), 0 if it is gone."""
    return int(_read_status(pid, name).partition(" ")[0] or 0) // 1024


def _read_status(pid: int, name: str) -> str:
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return ""
    found = re.search(rf"^{name}:\s+(.*)$", text, re.MULTILINE)
    return found[1] if found else ""
