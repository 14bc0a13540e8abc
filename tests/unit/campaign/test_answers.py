"""The oracle demands that senders go on and are answered after the faults."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from campaign.history import Fate, History, Sent
from campaign.oracle import Kind, find_problems

_EMPTY = History((), {}, (), {}, {}, {})
_CALM = [Sent({"sender": "s0", "number": number}, True, Fate.WRITTEN) for number in range(10, 60)]


def _check_calm(**changes: Any) -> list[tuple[Kind, str]]:
    return [(each.kind, each.what) for each in find_problems(replace(_EMPTY, **changes))]


@pytest.mark.parametrize(
    "early", [Fate.UNKNOWN, Fate.UNDELIVERED, Fate.REFUSED], ids=lambda fate: fate.name
)
def test_a_sender_may_be_answered_some_time_after_the_faults(early: Fate) -> None:
    assert _check_calm(calm={"s0": [replace(_CALM[0], fate=early), *_CALM]}) == []


@pytest.mark.parametrize("fate", [Fate.UNKNOWN, Fate.UNDELIVERED, Fate.UNCLEAR])
@pytest.mark.parametrize("at", [25, 49])
def test_a_sender_that_is_not_answered_after_the_faults_is_told(fate: Fate, at: int) -> None:
    failed = replace(_CALM[at], fate=fate, reason="no broker answers")

    assert _check_calm(calm={"s1": _CALM, "s0": [*_CALM[:at], failed, *_CALM[at + 1 :]]}) == [
        (Kind.LOST, f"s0 is answered no more: ('s0', {at + 10}) is {fate}, no broker answers")
    ]


def test_a_sender_that_sends_no_more_is_told() -> None:
    assert _check_calm(calm={"s0": _CALM[:7]}) == [
        (Kind.LOST, "s0 is answered no more: 7 events after the faults, expected 30")
    ]


def test_a_sender_that_ended_by_itself_is_told() -> None:
    assert _check_calm(dead={"stranger": "KafkaError: no brokers"}) == [
        (Kind.ERROR, "stranger ended by itself: KafkaError: no brokers")
    ]
