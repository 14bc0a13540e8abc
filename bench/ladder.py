"""The rungs of the benchmark ladder, and the timing of two ways side by side.

Machines are shared and noisy, so a rung compares: the product's way and the other way run in turns
(A B B A), the first turn is dropped, and medians are reported.
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
    """A figure, its unit, and the figures it was computed from."""

    figure: float
    unit: str
    parts: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rung:
    """One step of the ladder: what it measures, and when its goal is reached."""

    name: str
    what: str
    goal: str
    is_reached: Callable[[float], bool]
    measure: Callable[[int], Result]


def least(name: str, what: str, times: float, measure: Callable[[int], Result]) -> Rung:
    """Return a rung whose figure must be at least `times`."""
    return Rung(name, what, f"at least {times:g} times", lambda figure: figure >= times, measure)


def reported(name: str, what: str, measure: Callable[[int], Result]) -> Rung:
    """Return a rung without a goal."""
    return Rung(name, what, "reported", lambda figure: figure > 0, measure)


def compare(
    product: Callable[[], object],
    other: Callable[[], object],
    count: int,
    *,
    items: int = 1,
    clock: Callable[[], float] = time.perf_counter,
) -> Result:
    """Return how many times faster the product's way is than the other, with `count` calls each.

    Args:
        items: the number of things that one call does; the parts hold the time of one of them.
        clock: `time.process_time` measures the CPU time of this process only.
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


def race(
    ways: Mapping[str, Callable[[], float | None]], turns: int = _TURNS
) -> dict[str, list[float]]:
    """Time ways in turns, forward and backward, and return the seconds of each but the first turn.

    A way may return its own seconds, which then replace those of the clock.
    """
    times: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(turns + 1):
        for name in list(ways) if turn % 2 == 0 else reversed(ways):
            started = time.perf_counter()
            own = ways[name]()
            times[name].append(time.perf_counter() - started if own is None else own)
    return {name: seconds[1:] for name, seconds in times.items()}


def ratio(turns: Mapping[str, list[float]], product: str, other: str) -> float:
    """Return how many times faster the product's way is: the median of the pairs of turns."""
    pairs = zip(turns[product], turns[other], strict=True)
    return statistics.median(theirs / ours for ours, theirs in pairs)


def speeds(turns: Mapping[str, list[float]], rows: int) -> dict[str, float]:
    """Return the rows per second of each way: the median, and the slowest and the fastest turn."""
    parts: dict[str, float] = {"records": rows}
    for name, seconds in turns.items():
        speed = rows / statistics.median(seconds)
        parts[f"{name}_rows_per_second"] = round(speed)
        parts[f"{name}_slowest"] = round(rows / max(seconds))
        parts[f"{name}_fastest"] = round(rows / min(seconds))
        parts[f"{name}_core_microseconds_a_row"] = round((os.cpu_count() or 1) / speed * 1e6, 2)
    return parts


def time_call(way: Callable[[], object], count: int) -> Result:
    """Return how long one call takes: the median over turns, without the first."""
    times = [_microseconds_a_call(way, count) for _ in range(_TURNS + 1)]
    return Result(figure=statistics.median(times[1:]), unit="microseconds")


def _microseconds_a_call(
    way: Callable[[], object], count: int, clock: Callable[[], float] = time.perf_counter
) -> float:
    started = clock()
    for _ in range(count):
        way()
    return (clock() - started) / count * 1e6
