"""Who a driver is, and whether another one on this machine has ended: as Linux tells it."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

_PROC = Path("/proc")
_ENDED = ("Z", "X")  # killed, and its parent has not looked yet


def describe_driver(spark: SparkSession) -> dict[str, Any]:
    """Describe this driver's two processes so that another driver can tell whether they live."""
    java: Any = spark.sparkContext._jvm
    # Python's process may be gone while the JVM's still ends what it was at.
    jvm = java.java.io.File(f"{_PROC}/self").getCanonicalFile().getName()
    return {
        "host": socket.gethostname(),
        "machine": _name_machine(),
        "processes": {pid: _find_start(pid) for pid in (str(os.getpid()), str(jvm))},
    }


def has_ended(driver: Any) -> bool:
    """Tell whether a driver is surely gone; one on another machine may be there or not."""
    try:
        machine, processes = driver["machine"], dict(driver["processes"])
    except (KeyError, TypeError, ValueError):
        return False
    if machine is None or machine != _name_machine():
        return False
    return all(start != _find_start(pid) for pid, start in processes.items())


def _name_machine() -> str | None:
    """Name what the ids of processes are unique in; None where the system does not tell."""
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
        space = (_PROC / "self/ns/pid").readlink()
    except OSError:
        return None
    return f"{socket.gethostname()} {boot} {space}"


def _find_start(pid: str) -> str | None:
    """Find when a process began, which tells it from a later one of the same id."""
    try:
        state, *rest = (_PROC / pid / "stat").read_text().rpartition(")")[2].split()
    except (OSError, ValueError):
        return None
    return None if state in _ENDED else rest[18]
