"""Series that grow are told from those that are flat and noisy, in samples that were doctored."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from random import Random

import pytest

from campaign.growth import find_growth
from campaign.history import PROGRAMS, Reading, Sample
from campaign.oracle import Kind

_SECONDS = 1_800
_RATE = 40.0
_LIFE = 270.0  # of a driver

Value = Callable[[float], float]  # by the second
_FLAT = dict.fromkeys(PROGRAMS, lambda _: 0.0)


def _sample(
    second: float,
    rng: Random,
    mb: Mapping[str, Value],
    handles: Mapping[str, Value],
    lags: Mapping[str, Value],
) -> Sample:
    programs = {}
    for name in sorted(PROGRAMS):
        life = int(second / _LIFE) if name == "driver" else 0
        more, open_ = mb.get(name, _FLAT[name]), handles.get(name, _FLAT[name])
        programs[name] = [
            Reading(
                life,
                int(500 + rng.gauss(0, 20) + more(second)),
                int(100 + rng.gauss(0, 5) + open_(second)),
            )
        ]
    records = {"topic": 10**6}
    for reader in ("function", "job"):
        lag = abs(rng.gauss(300, 100)) + lags.get(reader, lambda _: 0.0)(second)
        records[reader] = 10**6 - int(lag)
    return Sample(second, programs, records)


def _judge(
    mb: Mapping[str, Value] | None = None,
    handles: Mapping[str, Value] | None = None,
    lags: Mapping[str, Value] | None = None,
    seconds: int = _SECONDS,
) -> list[str]:
    rng = Random(1)
    samples = [
        _sample(500.0 + second, rng, mb or {}, handles or {}, lags or {})
        for second in range(0, seconds, 10)
    ]
    problems = find_growth(samples, _RATE)
    assert {each.kind for each in problems} <= {Kind.GROWTH}
    return [each.what for each in problems]


def _spikes(second: float) -> float:
    """A lag while a driver is gone for half a minute, each four minutes."""
    return 1_500 if second % 240 < 30 else 0


def _in_a_life(second: float) -> float:
    return second % _LIFE


def test_what_is_flat_and_noisy_does_not_grow() -> None:
    assert _judge() == []
    assert _judge(lags={"job": _spikes}) == []


def test_what_grows_at_first_and_then_stays_does_not_grow() -> None:
    def warm(second: float) -> float:
        return 300 * min(1, (second - 500) / 60)

    assert _judge(mb={"mapping": warm}, handles={"mapping": warm}) == []


def test_what_a_driver_takes_in_each_of_its_lives_does_not_grow() -> None:
    assert _judge(mb={"driver": lambda second: _in_a_life(second) / 3}) == []


@pytest.mark.parametrize("program", sorted(PROGRAMS - {"driver"}))
def test_a_program_that_leaks_handles_is_named(program: str) -> None:
    (problem,) = _judge(handles={program: lambda second: (second - 500) / 20})

    assert problem.startswith(f"file handles of a {program}: 1")


def test_a_driver_that_leaks_handles_in_each_of_its_lives_is_named() -> None:
    problems = _judge(handles={"driver": lambda second: _in_a_life(second) / 2})

    assert problems
    assert all(each.startswith("file handles of a driver: ") for each in problems)


def test_a_program_whose_memory_grows_is_named() -> None:
    (problem,) = _judge(mb={"broker 1": lambda second: (second - 500) / 6})

    assert problem.startswith("memory in MB of a broker 1: 5")


def test_drivers_of_which_each_takes_more_memory_are_named() -> None:
    (problem,) = _judge(mb={"driver": lambda second: 60 * int((second - 500) / _LIFE)})

    assert problem.startswith("memory in MB of drivers one after the other: ")


def test_the_memory_of_localcloud_may_grow_since_it_holds_all_data() -> None:
    assert _judge(mb={"localcloud": lambda second: second}) == []


@pytest.mark.parametrize("reader", ["function", "job"])
def test_a_lag_that_grows_is_named(reader: str) -> None:
    problems = _judge(lags={reader: lambda second: second - 500})

    assert problems[0].startswith(f"the lag of the {reader} in records: ")
    assert problems[-1].endswith(" or more in the last third of the run")


def test_a_reader_that_is_a_little_slower_than_its_senders_is_named() -> None:
    problems = _judge(lags={"job": lambda second: 0.02 * _RATE * (second - 500)})

    assert problems
    assert all("the lag of the job" in each for each in problems)


def test_a_reader_that_does_not_come_to_the_end_is_named() -> None:
    (problem,) = _judge(lags={"job": lambda second: 800 if 1_100 <= second < 1_700 else 0})

    assert re.fullmatch(
        r"the lag of the job in records: [89]\d\d or more in the second third of the run", problem
    )


def test_a_program_or_a_lag_that_was_not_measured_is_told() -> None:
    samples = [Sample(second, {}, {"topic": 1, "job": 1, "function": 1}) for second in range(99)]

    told = [each.what for each in find_growth(samples, _RATE)]
    assert "file handles of a driver: nothing was measured" in told
    assert len(told) == 2 * len(PROGRAMS)
    assert _judge(seconds=100) == ["found 10 samples, expected 12 with a lag"]
    blind = [Sample(second, {}, {}) for second in range(99)]
    assert find_growth(blind, _RATE)[0].what == "found 99 samples, expected 12 with a lag"
