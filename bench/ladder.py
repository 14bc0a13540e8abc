"""What a rung is, and how two ways of doing one thing are timed side by side.

Machines are shared and noisy, so a rung never stands alone: the product's way and the way it is
compared with run in turns (A B B A), the first turn is dropped, and medians are reported.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

_TURNS = 5


@dataclass(frozen=True, slots=True)
class Result:
    """One figure, its unit, and the figures it was made from."""

    figure: float
    unit: str
    parts: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rung:
    """One step of the ladder: what is measured, and when its goal counts as reached."""

    name: str
    what: str
    goal: str
    is_reached: Callable[[float], bool]
    measure: Callable[[int], Result]


def least(name: str, what: str, times: float, measure: Callable[[int], Result]) -> Rung:
    """Make a rung whose figure is to be so many times at least."""
    return Rung(name, what, f"at least {times:g} times", lambda figure: figure >= times, measure)


def reported(name: str, what: str, measure: Callable[[int], Result]) -> Rung:
    """Make a rung without a goal."""
    return Rung(name, what, "reported", lambda figure: figure > 0, measure)


def compare(
    product: Callable[[], object],
    other: Callable[[], object],
    count: int,
    *,
    items: int = 1,
    clock: Callable[[], float] = time.perf_counter,
) -> Result:
    """Say how many times faster the product's way is than the other, calling each `count` times.

    Args:
        items: how many things one call does: the parts tell the time of one of them.
        clock: `time.process_time` tells the CPU time of this process alone.
    """
    turns: dict[str, list[float]] = {"product": [], "other": []}
    ways = {"product": product, "other": other}
    for turn in range(_TURNS + 1):
        order = ("product", "other") if turn % 2 == 0 else ("other", "product")
        for name in order:
            turns[name].append(_microseconds_a_call(ways[name], count, clock) / items)
    medians = {name: statistics.median(times[1:]) for name, times in turns.items()}
    return Result(
        figure=medians["other"] / medians["product"],
        unit="times",
        parts={f"{name}_microseconds": round(value, 3) for name, value in medians.items()},
    )


def race(ways: Mapping[str, Callable[[], float | None]]) -> dict[str, list[float]]:
    """Time ways in turns, there and back: the seconds of each turn, the first one dropped.

    A way that knows better than the clock what counts of its time returns that.
    """
    turns: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(_TURNS + 1):
        for name in list(ways) if turn % 2 == 0 else reversed(ways):
            started = time.perf_counter()
            own = ways[name]()
            turns[name].append(time.perf_counter() - started if own is None else own)
    return {name: seconds[1:] for name, seconds in turns.items()}


def ratio(turns: Mapping[str, list[float]], product: str, other: str) -> float:
    """Say how many times faster the product's way is: the median over turns, each a pair."""
    pairs = zip(turns[product], turns[other], strict=True)
    return statistics.median(theirs / ours for ours, theirs in pairs)


def speeds(turns: Mapping[str, list[float]], rows: int) -> dict[str, float]:
    """Give the rows a second of each way: the median, and the slowest and the fastest turn."""
    parts: dict[str, float] = {"records": rows}
    for name, seconds in turns.items():
        speed = rows / statistics.median(seconds)
        parts[f"{name}_rows_per_second"] = round(speed)
        parts[f"{name}_slowest"] = round(rows / max(seconds))
        parts[f"{name}_fastest"] = round(rows / min(seconds))
        parts[f"{name}_core_microseconds_a_row"] = round((os.cpu_count() or 1) / speed * 1e6, 2)
    return parts


def time_call(way: Callable[[], object], count: int) -> Result:
    """Say how long one call takes: the median over turns, the first of them dropped."""
    times = [_microseconds_a_call(way, count) for _ in range(_TURNS + 1)]
    return Result(figure=statistics.median(times[1:]), unit="microseconds")


def _microseconds_a_call(
    way: Callable[[], object], count: int, clock: Callable[[], float] = time.perf_counter
) -> float:
    started = clock()
    for _ in range(count):
        way()
    return (clock() - started) / count * 1e6
