"""The machine that the figures are of, and how busy others kept it meanwhile."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import time
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tools.cpu_time import tree_seconds

_ROOT = Path(__file__).parents[1]
_TICKS = os.sysconf("SC_CLK_TCK")
_STOLEN = 7  # the column of /proc/stat: time that the machine's host gave to others
_IDLE = (3, 4)


def describe_machine() -> dict[str, Any]:
    """Return what a reader must know of the machine, and the versions that were measured."""
    found = subprocess.run(["java", "-version"], capture_output=True, text=True, check=True)
    return {
        "processor": _find(Path("/proc/cpuinfo").read_text(), r"model name\s*: (.*)"),
        "cores": os.cpu_count(),
        "architecture": platform.machine(),
        "memory_gib": round(measure_memory() / 2**30),
        "linux": platform.release(),
        "python": platform.python_version(),
        "java": _find(found.stderr, r'version "(.*?)"'),
        "spark": version("pyspark"),
        "kafka": _jar_version("localcloud/.cache/jars/broker", "kafka-server"),
        "iceberg": _jar_version("jars/spark/lib", "iceberg-aws-bundle"),
        "boto3": version("boto3"),
        "fastavro": version("fastavro"),
        "kafka-python": version("kafka-python"),
    }


def measure_memory() -> int:
    """Return the bytes of the machine's memory."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _find(text: str, pattern: str) -> str:
    match = re.search(pattern, text)
    return match.group(1) if match else "unknown"


def _jar_version(folder: str, name: str) -> str:
    jars = " ".join(path.name for path in _ROOT.glob(f"{folder}/{name}-*.jar"))
    return _find(jars, rf"{name}-([0-9.]+)\.jar")


def _machine_seconds() -> tuple[float, float]:
    """Return the seconds in which all cores were busy so far, and those that the host took."""
    columns = list(map(int, Path("/proc/stat").read_text().splitlines()[0].split()[1:9]))
    busy = sum(ticks for at, ticks in enumerate(columns) if at not in {*_IDLE, _STOLEN})
    return busy / _TICKS, columns[_STOLEN] / _TICKS


@dataclass(slots=True)
class Load:
    """The cores that others used since this was made."""

    _started: float = field(default_factory=time.perf_counter)
    _machine: tuple[float, float] = field(default_factory=_machine_seconds)
    _own: float = field(default_factory=lambda: tree_seconds(os.getpid()))

    def measure(self) -> dict[str, float]:
        """Return the seconds since, and the cores of other processes and of other machines."""
        seconds = time.perf_counter() - self._started
        busy, stolen = (
            now - then for now, then in zip(_machine_seconds(), self._machine, strict=True)
        )
        others = busy - (tree_seconds(os.getpid()) - self._own)
        return {
            "seconds": round(seconds, 1),
            "others_cores": max(0.0, round(others / seconds, 2)),
            "stolen_cores": round(stolen / seconds, 2),
        }
