"""Growth: the memory and the file handles of programs, and the lag of readers, must stay flat.

Processes are killed and started again, so a program is judged twice. A process that lives for long
is compared with itself: the median of the last third of its life, after a warm-up, with that of the
first third. And the lives of a program are compared with one another: what those that ended in the
second half of the run had at most, with those of the first half. Medians keep noise out, and a
limit is what was there before, a share of it, and an allowance.

The lag of a reader is measured by the rate of events: in each third of the run it comes back to
some seconds of events, and its median over the last third is not above that over the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from campaign.history import PROGRAMS, Reading, Sample
from campaign.oracle import Kind, Problem

READERS: Final = ("function", "job")
_WARM_SECONDS: Final = 60.0  # of each life
_LEAST: Final = 12  # samples of a life, or of a run, below which they say nothing
_LEAST_LIFE: Final = 6  # samples of a life that is compared with others
_NEAR_SECONDS: Final = 15.0  # of events: a reader is at the end of the topic
_MORE_SECONDS: Final = 60.0  # of events: a median that is no growth, since faults differ

Points = Sequence[tuple[float, int]]  # seconds and values


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure of a process, and how much more of it is no growth."""

    name: str
    read: Callable[[Reading], int]
    share: float
    allowance: int
    ignored: frozenset[str] = frozenset()

    def find_growth(self, program: str, lives: Sequence[Points], half: float) -> Iterator[Problem]:
        """Yield what has grown in a program; `half` is the second amid the run."""
        for life in lives:
            warm = [value for second, value in life if second >= life[0][0] + _WARM_SECONDS]
            if len(warm) >= _LEAST:
                first, _, last = _thirds(warm)
                yield from self._compare(f"a {program}", first, last)
        long = [life for life in lives if len(life) >= _LEAST_LIFE]
        halves: tuple[list[int], list[int]] = ([], [])
        for life in long:
            halves[life[-1][0] > half].append(max(value for _, value in life))
        if all(halves):
            yield from self._compare(f"{program}s one after the other", *halves)

    def _compare(self, what: str, before: Sequence[int], after: Sequence[int]) -> Iterator[Problem]:
        first, last = median(before), median(after)
        if last > first * (1 + self.share) + self.allowance:
            yield Problem(Kind.GROWTH, f"{self.name} of {what}: {first:.0f}, then {last:.0f}")


# The process of localcloud holds all objects and rows, and what was sent.
MEASURES: Final = (
    Measure("memory in MB", lambda it: it.mb, 0.2, 50, frozenset({"localcloud"})),
    Measure("file handles", lambda it: it.handles, 0.1, 20),
)


def find_growth(samples: Sequence[Sample], rate: float) -> list[Problem]:
    """Return what has grown in a run with so many events a second."""
    lags = list_lags(samples)
    if min(map(len, lags.values())) < _LEAST:
        return [Problem(Kind.GROWTH, f"found {len(samples)} samples, expected {_LEAST} with a lag")]
    half = (samples[0].second + samples[-1].second) / 2
    problems = []
    for measure in MEASURES:
        lives = list_lives(samples, measure.read)
        problems += [
            Problem(Kind.GROWTH, f"{measure.name} of a {name}: nothing was measured")
            for name in sorted(PROGRAMS - lives.keys())
        ]
        for program in lives.keys() - measure.ignored:
            problems += measure.find_growth(program, list(lives[program].values()), half)
    for reader, points in lags.items():
        problems += _find_lag_growth(reader, points, rate)
    return problems


def list_lives(
    samples: Iterable[Sample], read: Callable[[Reading], int]
) -> Mapping[str, Mapping[int, list[tuple[float, int]]]]:
    """Return the values of each process of each program."""
    lives: dict[str, dict[int, list[tuple[float, int]]]] = {}
    for sample in samples:
        for program, readings in sample.programs.items():
            for each in readings:
                life = lives.setdefault(program, {}).setdefault(each.pid, [])
                life.append((sample.second, read(each)))
    return lives


def list_lags(samples: Iterable[Sample]) -> dict[str, Points]:
    """Return the lag of each reader in records, where the brokers said it."""
    known = [each for each in samples if each.records]
    return {
        reader: [(each.second, each.records["topic"] - each.records[reader]) for each in known]
        for reader in READERS
    }


def is_read(records: Mapping[str, int], rate: float) -> bool:
    """Return whether both readers are at the end of the topic, but for some seconds of events."""
    lags = [records["topic"] - records[reader] for reader in READERS if records]
    return bool(lags) and max(lags) <= _NEAR_SECONDS * rate


def _find_lag_growth(reader: str, points: Points, rate: float) -> Iterator[Problem]:
    what = f"the lag of the {reader} in records"
    thirds = _thirds([lag for _, lag in points])
    first, _, last = (median(third) for third in thirds)
    if last > first + _MORE_SECONDS * rate:
        yield Problem(Kind.GROWTH, f"{what}: {first:.0f}, then {last:.0f}")
    for name, least in zip(("first", "second", "last"), map(min, thirds), strict=True):
        if least > _NEAR_SECONDS * rate:
            yield Problem(Kind.GROWTH, f"{what}: {least} or more in the {name} third of the run")


def _thirds(values: Sequence[int]) -> list[Sequence[int]]:
    third = len(values) // 3
    return [values[:third], values[third:-third], values[-third:]]
