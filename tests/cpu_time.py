"""CPU seconds of each test, its servers, brokers and drivers included, beside its wall seconds.

They are written as a property of the test into the report of `pytest --junitxml`, which
tools/suite reads. Shorter tests than `_SHORTEST` are counted with the next longer one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

PROPERTY = "cpu_seconds"

_SHORTEST = 0.25  # reading all of /proc takes some milliseconds
_TICKS = os.sysconf("SC_CLK_TCK")
_PARENT, _FIRST_TIME, _LAST_TIME = 1, 11, 15  # fields of /proc/PID/stat behind the name


class CpuTime:
    """A plugin of pytest."""

    def __init__(self) -> None:
        self._since, self._counted = time.monotonic(), 0.0

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Iterator[None]:
        """Count what was spent since the last test that was counted."""
        try:
            return (yield)
        finally:
            now = time.monotonic()
            if now - self._since >= _SHORTEST:
                spent = tree_seconds(os.getpid())
                item.user_properties.append((PROPERTY, f"{max(0, spent - self._counted):.2f}"))
                self._since, self._counted = now, spent


def tree_seconds(pid: int) -> float:
    """Add up the CPU seconds of a process, its living descendants, and those they waited for."""
    children: dict[int, list[int]] = {}
    spent: dict[int, float] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has just ended
        found = int(path.parent.name)
        children.setdefault(int(fields[_PARENT]), []).append(found)
        spent[found] = sum(map(int, fields[_FIRST_TIME:_LAST_TIME])) / _TICKS
    total, waiting = 0.0, [pid]
    while waiting:
        found = waiting.pop()
        total += spent.get(found, 0)
        waiting += children.get(found, [])
    return total
