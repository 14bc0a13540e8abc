"""The rungs of the benchmark ladder, and the timing of ways side by side.

Machines are shared and noisy, so a rung compares: the product's way and other ways run in turns
(A B B A), the first turn is dropped, and the median of the ratios of the turns is reported.

Only the rungs of decoding read all records: with all rungs the run would take two hours, in which
no machine that others use is quiet. A process for each rung would start a broker and a JVM each.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

_TURNS = 5  # of calls, which take milliseconds
Turns = dict[str, list[float]]
Ways = Mapping[str, Callable[[], float | None]]


@dataclass(frozen=True, slots=True)
class Form:
    """The size of a run.

    Attributes:
        calls: how often a function is called in a turn.
        records: the records of a topic.
        turns: the turns of Spark's ways that count; one alone is for tests of the code.
    """

    calls: int
    records: int
    turns: int


FORMS = {
    "tiny": Form(calls=20, records=4_800, turns=1),
    "ordinary": Form(calls=2_000, records=2_000_000, turns=2),
    "full": Form(calls=50_000, records=2_000_000, turns=5),
}


@dataclass(frozen=True, slots=True)
class Result:
    """A figure, its unit, and the figures it was computed from."""

    figure: float
    unit: str
    parts: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rung:
    """One step of the ladder: the question that it answers, and its goal.

    Attributes:
        at_least: the smallest figure that reaches the goal.
        at_most: the largest figure that reaches the goal.
    """

    name: str
    question: str
    measure: Callable[[Form], Result]
    at_least: float | None = None
    at_most: float | None = None

    def is_reached(self, figure: float) -> bool:
        """Return whether a figure reaches the goal; without a goal, each does."""
        return (self.at_least is None or figure >= self.at_least) and (
            self.at_most is None or figure <= self.at_most
        )


def least(name: str, question: str, figure: float, measure: Callable[[Form], Result]) -> Rung:
    """Return a rung whose figure must be at least `figure`."""
    return Rung(name, question, measure, at_least=figure)


def most(name: str, question: str, figure: float, measure: Callable[[Form], Result]) -> Rung:
    """Return a rung whose figure must be at most `figure`."""
    return Rung(name, question, measure, at_most=figure)


def reported(name: str, question: str, measure: Callable[[Form], Result]) -> Rung:
    """Return a rung without a goal."""
    return Rung(name, question, measure)


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
    medians = time_ways({"product": product, "other": other}, count, items=items, clock=clock)
    return Result(
        figure=medians["other"] / medians["product"],
        unit="times",
        parts={f"{name}_microseconds": round(value, 3) for name, value in medians.items()},
    )


def time_ways(
    ways: Mapping[str, Callable[[], object]],
    count: int,
    *,
    items: int = 1,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """Return the microseconds of each way for one of its items: the median over turns."""
    turns = race(
        {
            name: lambda way=way: _microseconds_a_call(way, count, clock) / items  # type: ignore[misc]
            for name, way in ways.items()
        },
        _TURNS,
    )
    return {name: statistics.median(times) for name, times in turns.items()}


def race(ways: Ways, turns: int = _TURNS, *, warm: Ways | None = None, dropped: int = 1) -> Turns:
    """Time ways in turns, forward and backward, and return the seconds of each but the first turns.

    Args:
        ways: functions; the seconds that one returns replace those of the clock.
        turns: the turns that count; if it is only one, it is the first, as nobody reads its times.
        warm: what runs in the first turn instead: the same with fewer records, or nothing.
        dropped: the turns before those that count.
    """
    times: Turns = {name: [] for name in ways}
    dropped = dropped if turns > 1 else 0
    for turn in range(turns + dropped):
        now = warm if dropped and turn == 0 and warm is not None else ways
        for name in list(now) if turn % 2 == 0 else reversed(list(now)):
            started = time.perf_counter()
            own = now[name]()
            times[name].append(time.perf_counter() - started if own is None else own)
    return {name: seconds[-turns:] for name, seconds in times.items()}


def ratio(turns: Mapping[str, list[float]], product: str, other: str) -> float:
    """Return how many times faster the product's way is: the median of the pairs of turns."""
    pairs = zip(turns[product], turns[other], strict=True)
    return statistics.median(theirs / ours for ours, theirs in pairs)


def speeds(turns: Mapping[str, list[float]], rows: int) -> dict[str, float]:
    """Return the rows per second of each way: the median, and the slowest and the fastest turn."""
    parts: dict[str, float] = {"records": rows}
    for name, seconds in turns.items():
        parts[f"{name}_rows_per_second"] = round(rows / statistics.median(seconds))
        parts[f"{name}_slowest"] = round(rows / max(seconds))
        parts[f"{name}_fastest"] = round(rows / min(seconds))
    return parts


def choose(turns: Turns, names: Iterable[str]) -> Turns:
    """Return the turns of some ways."""
    return {name: turns[name] for name in names}


def _microseconds_a_call(
    way: Callable[[], object], count: int, clock: Callable[[], float]
) -> float:
    started = clock()
    for _ in range(count):
        way()
    return (clock() - started) / count * 1e6
