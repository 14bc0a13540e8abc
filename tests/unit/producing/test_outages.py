"""Kafka or the registry is down, hangs or answers wrongly: told in time, and nothing is claimed."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import pytest

from penstock.errors import DeliveryError, RegistryAnswerError, RegistryUnavailableError
from penstock.producing import EventProducer, Produced, Refusal
from penstock.producing import producer as producer_module
from penstock.registry import CachedRegistry, Registration
from penstock.schemas import Policy, Schema
from tests.stubs.clock import FakeTime
from tests.stubs.topic import FakeTopic
from tests.unit.producing.conftest import Build, refused, send, written


def test_an_unacknowledged_event_counts_as_not_written(
    producer: EventProducer, topic: FakeTopic
) -> None:
    topic.failure = DeliveryError("not acknowledged within 10 s")

    refusal = refused(producer, {})

    assert (refusal.error, refusal.is_final) == (topic.failure, False)


def test_a_send_ends_in_time_though_kafka_hangs(producer: EventProducer, topic: FakeTopic) -> None:
    topic.hanging = threading.Event()

    refusal = refused(producer, {}, seconds=0.5)  # had it waited, it were written

    assert str(refusal.error) == "not acknowledged within 0.5 s, it may or may not be written"
    assert not refusal.is_final
    topic.hanging.set()


def test_events_of_known_schemas_are_sent_though_the_registry_hangs(
    producer: EventProducer, registry: CachedRegistry, topic: FakeTopic
) -> None:
    written(producer, {})
    freed, register = threading.Event(), registry.register

    def hang(name: str, schema: Schema) -> Any:
        if len(schema["fields"]) > 2:
            freed.wait(30)
        return register(name, schema)

    with patch.object(registry, "register", hang):
        outcomes = send(producer, {}, {"a": 1}, {}, seconds=1)
        freed.set()

    assert [type(each) for each in outcomes] == [Produced, Refusal, Produced]
    assert str(outcomes[1].error) == "its schema is not registered after 1 s"  # type: ignore[union-attr]
    assert len(topic.records) == 3


def test_a_wrong_answer_of_the_registry_is_retried(
    producer: EventProducer, registry: CachedRegistry
) -> None:
    wrong = RegistryAnswerError("another version than was asked for")
    answers = iter([wrong, wrong])

    def answer(name: str, schema: Schema) -> Registration:
        for error in answers:
            raise error
        return CachedRegistry.register(registry, name, schema)

    with patch.object(registry, "register", side_effect=answer) as register:
        written(producer, {})

    assert register.call_count == 3


def test_an_answer_that_stays_wrong_is_an_error(
    producer: EventProducer, registry: CachedRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    time = FakeTime()
    pauses = replace(producer_module._ANSWER_ATTEMPTS, sleep=time.sleep, clock=time.clock)
    monkeypatch.setattr(producer_module, "_ANSWER_ATTEMPTS", pauses)
    wrong = RegistryAnswerError("another version than was asked for")
    with patch.object(registry, "register", side_effect=wrong) as register:
        refusal = refused(producer, {})

    assert (refusal.error, refusal.is_final) == (wrong, False)
    assert register.call_count == 5


def test_a_registry_that_is_down_stops_new_schemas_only(
    producer: EventProducer, registry: CachedRegistry
) -> None:
    written(producer, {})
    down = RegistryUnavailableError("down")
    with patch.object(registry._registry, "register", side_effect=down):
        outcomes = send(producer, {"a": 1}, {})

    assert [type(each) for each in outcomes] == [Refusal, Produced]
    assert not outcomes[0].is_final  # type: ignore[union-attr]


def test_a_registry_that_is_down_is_asked_once_for_a_batch(
    producer: EventProducer, registry: CachedRegistry
) -> None:
    written(producer, {})
    down = RegistryUnavailableError("down")
    with patch.object(registry, "refresh", side_effect=down) as call:
        outcomes = send(producer, {"a": 1}, {"b": 1}, {"c": 1}, {})

    assert call.call_count == 1
    assert [str(getattr(each, "error", "")) for each in outcomes] == [*3 * ["down"], ""]


@pytest.mark.parametrize("policy", [Policy.GROW, Policy.FIXED])
def test_a_producer_without_a_list_asks_a_registry_that_is_down_once(
    build: Build, registry: CachedRegistry, policy: Policy
) -> None:
    down = RegistryUnavailableError("down")
    with patch.object(registry._registry, "versions", side_effect=down) as call:
        outcomes = send(build(policy=policy), {}, {"a": 1}, {})

    assert call.call_count == 1
    assert [str(getattr(each, "error", "")) for each in outcomes] == 3 * ["down"]


def test_trouble_with_one_new_schema_is_not_that_of_another(
    producer: EventProducer, registry: CachedRegistry
) -> None:
    def register(name: str, schema: Schema) -> Registration:
        if any(field["name"] == "a" for field in schema["fields"]):
            raise RegistryUnavailableError("its version is being deleted")
        return CachedRegistry.register(registry, name, schema)

    with patch.object(registry, "register", register):
        outcomes = send(producer, {"a": 1}, {"b": 1})

    assert [type(each) for each in outcomes] == [Refusal, Produced]


def test_records_are_sent_in_the_order_of_their_events(
    producer: EventProducer, registry: CachedRegistry, topic: FakeTopic
) -> None:
    written(producer, {"n": 1})
    written(producer, {"n": 2, "new": 1}, {"n": 3})

    assert [each["n"] for each in topic.events(registry)] == [1, 2, 3]
