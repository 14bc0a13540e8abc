"""What `status` shows of the processes that localcloud started."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any


def resident_mb(pid: int) -> int:
    """The resident memory of a process in whole megabytes, 0 if it is gone."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE") // 2**20


def describe_process(pid: int, start_seconds: float) -> dict[str, Any]:
    """Tell of a process: 0 seconds while it starts, 0 megabytes when it is gone."""
    return {
        "pid": pid,
        "start_seconds": round(start_seconds, 2),
        "memory_mb": resident_mb(pid),
    }
