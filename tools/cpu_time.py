"""The CPU time of a process and of all that it started, from /proc."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final, NamedTuple

_TICKS: Final = os.sysconf("SC_CLK_TCK")
_READINGS: Final = 20


class _Times(NamedTuple):
    """The parent and the start of a process, its ticks, and those of children it waited for."""

    parent: int
    start: int
    own: int
    of_children: int


def tree_seconds(root: int) -> float:
    """Return the CPU seconds of a process, its descendants, and those they waited for.

    The files are not read at one moment, and the time of a process that ends goes to its parent.
    Children are read first, so none is left out. One that was read and ended before its parent was
    read is counted twice, so all are read again until none has ended. The time of a process is lost
    if its parent was killed or ignores the end of children, as PySpark's daemon does.
    """
    found = _read_tree(root)
    for _ in range(_READINGS):
        later = _read_tree(root)
        if found.keys() <= later.keys():
            break
        found = later
    return sum(times.own + times.of_children for times in found.values()) / _TICKS


def living_seconds(root: int) -> dict[tuple[int, int], float]:
    """Return the CPU seconds of a process and of each of its living descendants, by itself.

    The keys are the process id and the time of the start.
    """
    return {(pid, times.start): times.own / _TICKS for pid, times in _read_tree(root).items()}


def _read_tree(root: int) -> dict[int, _Times]:
    """Return the times of a process and its living descendants."""
    found: dict[int, _Times] = {}
    children: dict[int, list[int]] = {}
    pids = (int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit())
    for pid in sorted(pids, reverse=True):
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has just ended
        user, system, user_of_children, system_of_children = map(int, fields[11:15])
        times = _Times(
            parent=int(fields[1]),
            start=int(fields[19]),
            own=user + system,
            of_children=user_of_children + system_of_children,
        )
        children.setdefault(times.parent, []).append(pid)
        found[pid] = times
    tree, waiting = {}, [root]
    while waiting:
        pid = waiting.pop()
        if pid in found:
            tree[pid] = found[pid]
        waiting += children.get(pid, [])
    return tree
