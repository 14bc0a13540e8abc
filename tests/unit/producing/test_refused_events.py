"""What cannot be accepted is refused before it is written, and its neighbours are not."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.errors import RecordTooLargeError
from penstock.producing import EventProducer, Produced, ProducerSettings, Refusal
from penstock.registry import CachedRegistry
from penstock.registry.memory import MemoryRegistry
from penstock.schemas import Compatibility, canonical_form
from tests.stubs.readings import BASE_FIELDS
from tests.stubs.registries import CountedRegistry
from tests.stubs.topic import FakeTopic
from tests.unit.producing.conftest import KAFKA, Build, refused, send, written

_SENSOR = {"type": "record", "name": "sensor", "fields": list(BASE_FIELDS)}


def test_a_record_that_is_too_large_does_not_affect_others(
    producer: EventProducer, topic: FakeTopic
) -> None:
    topic.refused = {1: RecordTooLargeError("1 MB, expected less")}
    outcomes = send(producer, {}, {"a": 1}, {})

    assert [isinstance(each, Produced) for each in outcomes] == [True, False, True]
    assert isinstance(outcomes[1], Refusal)
    assert outcomes[1].rule == "a record is no larger than its topic accepts"


@pytest.mark.parametrize(
    ("event", "reason", "message", "diff"),
    [
        ([1], "EventTextError", "found a list, expected a JSON object", ()),
        ("text", "EventTextError", "found the string 'text', expected a JSON object", ()),
        (None, "EventTextError", "found null, expected a JSON object", ()),
        ({"t": float("nan")}, "EventTextError", "t: found NaN, expected a number", ()),
        ({"t": 2**63}, "EventValueError", "expected a whole number within 64 bits", ()),
        (
            {"temperature": "warm", "new": 1},
            "SchemaConflictError",
            "temperature: found the string 'warm', expected long as in the versions before",
            (
                "~ temperature: long (optional) -> string (optional)",
                "+ new: long (optional)",
            ),
        ),
        (
            {"temperature": [1, {"x": 1}]},
            "SchemaConflictError",
            "temperature: found a list, expected long as in the versions before",
            (),
        ),
        ({"deviceId": 7}, "EventValueError", "deviceId: found 7, expected string", ()),
        (
            {"deviceId": ""},
            "EventValueError",
            "deviceId: found an empty string, expected a key",
            (),
        ),
        (
            {"deviceId": "é" * 1_025},
            "EventValueError",
            "deviceId: found a key of 2050 bytes, expected at most 2048",
            (),
        ),
        (
            {"timestamp": -1},
            "EventValueError",
            "timestamp: found -1, expected a time until",
            (),
        ),
        ({"timestamp": 10**13}, "EventValueError", "timestamp: found 10000000000000, expected", ()),
    ],
    ids=str,
)
def test_a_bad_event_is_rejected_and_its_neighbours_are_written(
    producer: EventProducer, event: Any, reason: str, message: str, diff: tuple[str, ...]
) -> None:
    written(producer, {"temperature": 30, "humidity": 1})

    before, refusal, after = send(
        producer, {"temperature": 1}, event, {"temperature": 3, "more": 1}
    )

    assert isinstance(refusal, Refusal)
    assert (refusal.reason, refusal.diff) == (reason, diff)
    assert message in str(refusal.error)
    assert refusal.is_final
    assert isinstance(before, Produced)
    assert isinstance(after, Produced)
    assert (before.delivery.offset, after.delivery.offset) == (1, 2)


def test_an_event_that_is_too_deep_for_json_is_rejected(
    producer: EventProducer,
) -> None:
    deep: Any = {}
    for _ in range(100_000):
        deep = {"o": deep}

    refusal = refused(producer, deep)

    assert refusal.reason == "EventLimitError"
    assert "deep" in str(refusal.error)


def test_a_refusal_names_the_rule_of_the_registry(topic: FakeTopic) -> None:
    registry = CachedRegistry(MemoryRegistry(compatibility=Compatibility.DISABLED))
    settings = ProducerSettings(KAFKA, "memory://")
    producer = EventProducer(settings, registry, topic, create_topic=True)  # type: ignore[arg-type]
    written(producer, {})

    refusal = refused(producer, {"a": 1})

    assert (refusal.reason, refusal.rule) == ("IncompatibleSchemaError", "DISABLED")
    assert refusal.diff == ("+ a: long (optional)",)


class _CountedAdds(MemoryRegistry):
    """Counts the versions that it is asked to store; its `_add` is Glue's RegisterSchemaVersion."""

    added = 0

    def _add(self, name: str, definition: str) -> str:
        self.added += 1
        return super()._add(name, definition)


@pytest.mark.parametrize(
    ("mode", "event", "rule"),
    [
        (Compatibility.NONE, {"t": "warm"}, "a field keeps its type, only numbers widen"),
        (Compatibility.BACKWARD, {"t": "warm"}, "a field keeps its type, only numbers widen"),
        (Compatibility.BACKWARD_ALL, {"t": "warm"}, "a field keeps its type, only numbers widen"),
        (Compatibility.FORWARD, {"t": 1.5}, "FORWARD"),
        (Compatibility.FORWARD_ALL, {"t": 1.5}, "FORWARD_ALL"),
        (Compatibility.FULL, {"t": 1.5}, "FULL"),
        (Compatibility.FULL_ALL, {"t": 1.5}, "FULL_ALL"),
        (Compatibility.DISABLED, {"a": 1}, "DISABLED"),
    ],
)
def test_an_event_that_a_mode_forbids_takes_no_version_number(
    topic: FakeTopic, mode: Compatibility, event: Any, rule: str
) -> None:
    registry = _CountedAdds(compatibility=mode)
    settings = ProducerSettings(KAFKA, "memory://")
    producer = EventProducer(settings, CachedRegistry(registry), topic, create_topic=True)  # type: ignore[arg-type]
    written(producer, {"t": 30})
    registry.added = 0

    refusals = [refused(producer, event) for _ in range(3)]

    assert {refusal.rule for refusal in refusals} == {rule}
    assert registry.added == 0
    assert len(registry.versions("sensor")) == 1


def test_versions_stay_within_the_budget(build: Build) -> None:
    producer = build(version_budget=1)
    written(producer, {})

    refusal = refused(producer, {"a": 1})

    assert "found 1 versions and expected at most 1" in str(refusal.error)
    assert refusal.rule == "a schema has no more versions than its budget"
    assert refusal.diff == ("+ a: long (optional)",)


def test_the_rule_of_the_registry_is_asked_once_for_equal_events_of_a_batch(
    topic: FakeTopic,
) -> None:
    inner = CountedRegistry()
    inner.store.create("memory/sensor", canonical_form(_SENSOR), Compatibility.DISABLED)
    settings = ProducerSettings(KAFKA, "memory://")
    producer = EventProducer(settings, CachedRegistry(inner), topic, create_topic=True)  # type: ignore[arg-type]

    outcomes = send(producer, *[{"a": 1}] * 20)

    assert {each.reason for each in outcomes if isinstance(each, Refusal)} == {
        "IncompatibleSchemaError"
    }
    assert inner.calls.count("register") == 1
    assert len(inner.calls) < 5
