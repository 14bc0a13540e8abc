"""An event is written under a schema that readers find, or refused before anything is written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from penstock.errors import (
    DeliveryError,
    EventTextError,
    EventValueError,
    PenstockError,
    SchemaConflictError,
    SettingsError,
    TopicForbiddenError,
    VersionBudgetError,
)
from penstock.framing import Compression, decode_frame
from penstock.kafka import Delivery, KafkaSettings, Security
from penstock.producing import EventProducer, ProducerSettings, build_event_producer
from penstock.registry import CachedRegistry, MemoryRegistry
from penstock.schemas import Policy, decode, from_record

_EVENTS = Path(__file__).parents[3] / "lambdas/producer/events"
_KAFKA = KafkaSettings(("127.0.0.1:9",), Security.PLAINTEXT)


@dataclass
class FakeKafka:
    """A topic in memory, and what was asked for it."""

    records: list[tuple[str, bytes, bytes]] = field(default_factory=list)
    topics: list[str] = field(default_factory=list)
    failure: PenstockError | None = None

    def send(self, topic: str, value: bytes, *, key: bytes) -> Delivery:
        """Take a record, or fail."""
        if self.failure:
            raise self.failure
        self.records.append((topic, value, key))
        return Delivery(topic, 0, len(self.records) - 1)


@pytest.fixture
def kafka() -> Iterator[FakeKafka]:
    kafka = FakeKafka()
    with patch(
        "penstock.producing.producer.ensure_topic",
        lambda settings, topic: kafka.topics.append(topic.name),
    ):
        yield kafka


@pytest.fixture
def registry() -> CachedRegistry:
    return CachedRegistry(MemoryRegistry())


def _build(registry: CachedRegistry, kafka: FakeKafka, **changes: Any) -> EventProducer:
    settings = ProducerSettings(_KAFKA, "memory://", **changes)
    return EventProducer(settings, registry, kafka)


@pytest.fixture
def producer(registry: CachedRegistry, kafka: FakeKafka) -> EventProducer:
    return _build(registry, kafka)


def _read(registry: CachedRegistry, value: bytes) -> dict[str, Any]:
    frame = decode_frame(value)
    assert frame is not None
    schema = registry.get(str(frame.schema_id)).schema
    return from_record(decode(frame.payload, schema), schema)


def test_the_schema_follows_the_events(producer: EventProducer) -> None:
    said = [producer.produce(event).describe() for event in ({}, {"temperature": 30}, {})]

    assert [each["schema"]["version"] for each in said] == [1, 2, 1]
    assert [each["schema"]["created"] for each in said] == [True, True, False]
    assert ["diff" in each["schema"] for each in said] == [False, True, False]
    assert said[1] == {
        "topic": "sensor",
        "partition": 0,
        "offset": 1,
        "schema": {
            "name": "sensor",
            "version": 2,
            "id": said[1]["schema"]["id"],
            "created": True,
            "diff": ["+ temperature: long (optional)"],
        },
    }
    json.dumps(said)


def test_a_record_is_the_event_of_the_device(
    producer: EventProducer, registry: CachedRegistry, kafka: FakeKafka
) -> None:
    producer.produce({"temperature": 30, "o": {"x": [1, None]}})
    producer.produce({"deviceId": "d-7", "timestamp": 5})

    (topic, value, key), (_, second, second_key) = kafka.records
    event = _read(registry, value)
    assert (topic, key) == ("sensor", b"000001")
    assert event.pop("timestamp") > 1_700_000_000_000
    assert event == {"deviceId": "000001", "temperature": 30, "o": {"x": [1, None]}}
    assert _read(registry, second) == {"deviceId": "d-7", "timestamp": 5}
    assert second_key == b"d-7"


def test_a_payload_is_compressed_where_that_pays(producer: EventProducer, kafka: FakeKafka) -> None:
    producer.produce({})
    producer.produce({"text": "x" * 1_000})

    frames = [decode_frame(value) for _, value, _ in kafka.records]
    assert [frame and frame.compression for frame in frames] == [Compression.NONE, Compression.ZLIB]


def test_no_two_events_have_one_time(
    producer: EventProducer, registry: CachedRegistry, kafka: FakeKafka
) -> None:
    with patch(
        "penstock.producing.producer.time.time_ns", side_effect=[9_000_000] * 2 + [1, 10**8]
    ):
        for _ in range(4):
            producer.produce({})

    times = [_read(registry, value)["timestamp"] for _, value, _ in kafka.records]
    assert times == [9, 10, 11, 100]


def test_the_topic_is_made_with_the_first_event_only(
    producer: EventProducer, kafka: FakeKafka
) -> None:
    assert kafka.topics == []
    for _ in range(2):
        producer.produce({})

    assert kafka.topics == ["sensor"]


def test_a_topic_that_could_not_be_made_is_tried_again(
    producer: EventProducer, kafka: FakeKafka
) -> None:
    denied = TopicForbiddenError("may not create it")
    with (
        patch("penstock.producing.producer.ensure_topic", side_effect=denied),
        pytest.raises(TopicForbiddenError),
    ):
        producer.produce({})

    producer.produce({})
    assert kafka.topics == ["sensor"]


@pytest.mark.parametrize(
    ("event", "kind", "message"),
    [
        ([1], EventTextError, "found a list, expected a JSON object"),
        ("text", EventTextError, "found the text 'text', expected a JSON object"),
        (None, EventTextError, "found null, expected a JSON object"),
        ({"t": float("nan")}, EventTextError, "t: found NaN, expected a number"),
        ({"t": 2**63}, EventValueError, "expected a whole number within 64 bits"),
        ({"temperature": "warm"}, SchemaConflictError, "temperature: found the text 'warm', expec"),
        ({"deviceId": 7}, EventValueError, "deviceId: found 7, expected string"),
    ],
    ids=str,
)
def test_what_cannot_be_accepted_is_refused_and_the_next_works(
    producer: EventProducer, kafka: FakeKafka, event: Any, kind: type[PenstockError], message: str
) -> None:
    producer.produce({"temperature": 30})

    with pytest.raises(kind) as caught:
        producer.produce(event)

    assert message in str(caught.value)
    assert len(kafka.records) == 1
    next_one = producer.produce({"temperature": 31, "more": 1})
    assert (next_one.delivery.offset, next_one.registration.version.number) == (1, 2)


def test_what_kafka_does_not_acknowledge_is_not_said_to_be_written(
    producer: EventProducer, kafka: FakeKafka
) -> None:
    kafka.failure = DeliveryError("not acknowledged within 10 s")

    with pytest.raises(DeliveryError):
        producer.produce({})


def test_versions_stay_within_the_budget(registry: CachedRegistry, kafka: FakeKafka) -> None:
    producer = _build(registry, kafka, version_budget=1)
    producer.produce({})

    with pytest.raises(VersionBudgetError, match="found 1 versions and expected at most 1"):
        producer.produce({"a": 1})


def test_versions_grow_where_that_is_the_policy(registry: CachedRegistry, kafka: FakeKafka) -> None:
    producer = _build(registry, kafka, policy=Policy.GROW)

    said = [producer.produce(event).describe() for event in ({"a": 1}, {"b": 1}, {"a": 1})]

    assert [each["schema"]["version"] for each in said] == [1, 2, 2]


def test_each_event_that_is_shipped_is_one_that_is_understood(producer: EventProducer) -> None:
    outcomes = {}
    for name in ("empty", "add_temperature", "widen_temperature", "nested"):
        outcomes[name] = producer.produce(json.loads((_EVENTS / f"{name}.json").read_text()))
    with pytest.raises(SchemaConflictError):
        producer.produce(json.loads((_EVENTS / "contradict_temperature.json").read_text()))

    assert [each.registration.version.number for each in outcomes.values()] == [1, 2, 3, 4]
    assert {path.stem for path in _EVENTS.iterdir()} == {*outcomes, "contradict_temperature"}


def test_settings_have_defaults_and_say_all_that_is_wrong() -> None:
    environ = {
        "KAFKA_BOOTSTRAP_SERVERS": "b-1:9098",
        "AWS_REGION": "eu-central-1",
        "PENSTOCK_REGISTRY": "glue://plant?external_id=hidden",
    }
    settings = ProducerSettings.from_environ(environ)
    with pytest.raises(SettingsError) as caught:
        ProducerSettings.from_environ({"PENSTOCK_VERSION_BUDGET": "0", "PENSTOCK_POLICY": "any"})

    assert (settings.topic, settings.schema_name, settings.device_id) == (
        *("sensor", "sensor", "000001"),
    )
    assert (settings.policy, settings.version_budget) == (Policy.EXACT, 100)
    assert "hidden" not in repr(settings)
    found = " ".join(caught.value.problems)
    assert "PENSTOCK_VERSION_BUDGET is '0', expected how many versions" in found
    assert "PENSTOCK_POLICY is 'any', expected what a new version holds" in found
    assert "PENSTOCK_REGISTRY (--registry) is missing" in found
    assert "KAFKA_BOOTSTRAP_SERVERS (--bootstrap-servers) is missing" in found


def test_a_producer_is_built_without_a_call() -> None:
    build_event_producer(ProducerSettings(_KAFKA, "memory://"), 10)
