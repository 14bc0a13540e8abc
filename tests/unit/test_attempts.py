"""Pauses grow, are bounded each and in all, and can be spread."""

from __future__ import annotations

from dataclasses import replace

import pytest

from penstock.attempts import Attempts
from penstock.registry._base import PENDING_ATTEMPTS
from penstock.registry.glue import _CALL_ATTEMPTS
from tests.stubs.clock import FakeTime


def _count(attempts: Attempts) -> int:
    return len(list(attempts))


def test_pauses_double_up_to_the_longest_and_end_in_time() -> None:
    time = FakeTime()

    made = _count(Attempts(1, 4, 20, sleep=time.sleep, clock=time.clock))

    assert time.pauses == [1, 2, 4, 4, 4, 4]
    assert made == 7


def test_time_that_the_attempts_take_counts() -> None:
    time = FakeTime()

    for _ in Attempts(1, 4, 20, sleep=time.sleep, clock=time.clock):
        time.now += 9

    assert time.pauses == [1]


def test_there_is_always_one_attempt() -> None:
    assert _count(Attempts(1, 1, 0)) == 1


def test_spread_pauses_are_between_half_and_all() -> None:
    time = FakeTime()

    _count(Attempts(1, 1, 100, jitter=True, sleep=time.sleep, clock=time.clock))

    assert len(set(time.pauses)) > 50
    assert all(0.5 <= pause <= 1 for pause in time.pauses)


@pytest.mark.parametrize(
    ("attempts", "first", "longest", "total"),
    [(PENDING_ATTEMPTS, 0.05, 1, 10), (_CALL_ATTEMPTS, 0.1, 3, 20)],
)
def test_the_default_pauses_of_each_client(
    attempts: Attempts, first: float, longest: float, total: float
) -> None:
    time = FakeTime()

    _count(replace(attempts, jitter=False, sleep=time.sleep, clock=time.clock))

    assert (time.pauses[0], max(time.pauses)) == (first, longest)
    assert total - longest < sum(time.pauses) <= total


def test_calls_are_spread_by_default() -> None:
    assert _CALL_ATTEMPTS.jitter
