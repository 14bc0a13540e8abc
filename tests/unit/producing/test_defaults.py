"""A producer with default settings, in the first hour with events of one's own."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from itertools import combinations, islice
from random import Random
from typing import Any
from unittest.mock import patch

import pytest

from penstock.errors import TopicNotFoundError
from penstock.producing import EventProducer, Refusal
from penstock.registry import CachedRegistry
from penstock.schemas import Policy
from tests.stubs.topic import FakeTopic
from tests.unit.producing.conftest import Build, refused, send, written

_OPTIONAL = [f"field{at}" for at in range(10)]
_NESTED = ("customer", "address", "card")


def _make_events(count: int) -> Iterator[dict[str, Any]]:
    """Yield events with ten optional fields, three nested records and a field that widens."""
    random = Random(7)
    for number in range(count):
        fields: dict[str, Any] = {"amount": number if number < count / 2 else number + 0.5}
        fields |= {name: random.choice([number, None]) for name in _OPTIONAL[:5]}
        fields |= {name: "text" for name in _OPTIONAL[5:] if random.random() < 1 / 2}
        fields |= {
            name: {part: number for part in "ab" if random.random() < 1 / 2} for name in _NESTED
        }
        yield fields


def test_events_of_any_combination_of_fields_make_few_versions(
    producer: EventProducer, trials: Callable[[int, int], int]
) -> None:
    made = _make_events(trials(600, 100_000))
    while events := list(islice(made, 300)):
        assert not [each for each in send(producer, *events) if isinstance(each, Refusal)]

    assert producer.version_count <= 20


def _combine(letters: str) -> list[dict[str, int]]:
    sizes = range(len(letters) + 1)
    return [dict.fromkeys(names, 1) for n in sizes for names in combinations(letters, n)]


@pytest.mark.parametrize("policy", [Policy.EXACT, Policy.GROW])
def test_who_follows_the_advice_of_a_full_budget_writes_the_refused_events(
    build: Build, policy: Policy
) -> None:
    producer = build(policy=policy, version_budget=4)
    events = _combine("abcdefgh")
    refusals = [each for each in send(producer, *events) if isinstance(each, Refusal)]
    assert len(refusals) > 4
    message = refusals[0].message

    budget = re.search(r"a version budget of (\d+)", message)
    assert budget is not None
    advised = Policy.GROW if "choose the policy grow" in message else policy
    written(build(policy=advised, version_budget=int(budget[1])), {"b": 1, "c": 1, "d": 1})
    if policy is Policy.EXACT:
        written(build(policy=advised, version_budget=int(budget[1])), {"h": 1}, {"g": 1, "h": 1})


@pytest.mark.parametrize(
    ("policy", "reason"),
    [
        (Policy.EXACT, "under the policy exact each combination of fields is a version"),
        (Policy.GROW, "the last change is "),
    ],
)
def test_half_of_the_version_budget_is_warned_of_with_the_reason(
    build: Build, policy: Policy, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    said = written(build(policy=policy, version_budget=6), *({name: 1} for name in "abcd"))

    warnings = [each["schema"].get("warning") for each in said]
    assert warnings[:2] == [None, None]
    assert warnings[2].startswith(f"3 of at most 6 versions are used: {reason}")
    assert warnings[3].startswith("4 of at most 6 versions are used: ")
    assert warnings[3].endswith("a version budget of 12")
    logged = [each.getMessage() for each in caplog.records if each.levelno == logging.WARNING]
    assert logged == [f"schema sensor: {each}" for each in warnings[2:]]


def test_half_of_the_characters_of_a_version_are_warned_of_too(producer: EventProducer) -> None:
    small, wide = ({f"field{number:05}": 1 for number in range(count)} for count in (1_000, 1_500))
    said = written(producer, small, wide)

    assert said[0]["schema"].get("warning") is None
    assert said[1]["schema"]["warning"].startswith(
        "53% of the 170,000 characters of a version are used: the last change is"
    )


def test_a_topic_that_does_not_exist_is_not_created_unless_somebody_asks(
    topic: FakeTopic, build: Build, registry: CachedRegistry
) -> None:
    producer = build()
    producer._create_topic = False
    missing = TopicNotFoundError("topic 'sensr' does not exist, and the nearest is 'sensor'")

    with patch("penstock.producing.producer.name_nearest_topic", lambda *_: missing):
        refusal = refused(producer, {})

    assert (refusal.error, refusal.is_final, topic.created) == (missing, False, [])


def test_an_event_with_an_empty_name_is_refused_by_its_path(producer: EventProducer) -> None:
    refusal = refused(producer, {"o": [{"": 1}]})

    assert str(refusal.error) == (
        "o[]: found a field with an empty name, expected a name of one character or more"
    )
    assert refusal.is_final
