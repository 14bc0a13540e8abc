"""Events are written under a schema that readers find, in versions that follow them."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterable
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import pytest

from penstock.errors import SettingsError, TopicForbiddenError
from penstock.framing import Compression, decode_frame
from penstock.kafka import Topic
from penstock.producing import EventProducer, IntakeSettings, ProducerSettings
from penstock.producing.producer import build_event_producer
from penstock.records import READING, base_fields
from penstock.registry import CachedRegistry
from penstock.schemas import Policy, Schema, VersionSet, infer_schema, merge_schemas
from tests.stubs.registries import CountedRegistry
from tests.stubs.topic import FakeTopic
from tests.unit.producing.conftest import KAFKA, Build, refused, written


def test_the_schema_follows_the_events(build: Build) -> None:
    producer = build(policy=Policy.EXACT)
    said = [*written(producer, {}), *written(producer, {"temperature": 30}, {})]

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
    assert producer.version_count == 2


def test_a_record_is_the_event_of_the_device(
    producer: EventProducer, registry: CachedRegistry, topic: FakeTopic
) -> None:
    written(producer, {"temperature": 30, "o": {"x": [1, None]}})
    written(producer, {"deviceId": "d-7", "timestamp": 5})

    first, second = topic.events(registry)
    assert [(each.topic, each.key) for each in topic.records] == [
        ("sensor", b"000001"),
        ("sensor", b"d-7"),
    ]
    assert first.pop("timestamp") > 1_700_000_000_000
    assert first == {"deviceId": "000001", "temperature": 30, "o": {"x": [1, None]}}
    assert second == {"deviceId": "d-7", "timestamp": 5}


def test_a_payload_is_compressed_from_the_size_that_is_set(build: Build, topic: FakeTopic) -> None:
    written(build(compress_bytes=1_000), {"text": "x" * 900}, {"text": "x" * 1_000})

    frames = [decode_frame(each.value or b"") for each in topic.records]
    assert [frame and frame.compression for frame in frames] == [Compression.NONE, Compression.ZLIB]


@pytest.mark.parametrize("text", ["0", "101", "25 %", "-1"])
def test_a_saving_is_between_1_and_100_percent(text: str) -> None:
    with pytest.raises(SettingsError, match=r"PENSTOCK_COMPRESS_SAVING is '.*', expected percent"):
        ProducerSettings.from_environ({"PENSTOCK_COMPRESS_SAVING": text})


def test_the_topic_is_created_with_the_first_events_only(build: Build, topic: FakeTopic) -> None:
    producer = build(topic_partitions=6, topic_replicas=2)
    assert topic.created == []
    for _ in range(2):
        written(producer, {}, {})

    assert topic.created == [Topic("sensor", partitions=6, replicas=2)]


def test_an_existing_topic_is_not_created(producer: EventProducer, topic: FakeTopic) -> None:
    topic.is_there = True
    written(producer, {})

    assert topic.created == []


def test_the_creation_of_the_topic_is_retried(producer: EventProducer, topic: FakeTopic) -> None:
    denied = TopicForbiddenError("may not create it")
    with patch("penstock.producing.producer.ensure_topic", side_effect=denied):
        refusal = refused(producer, {})

    assert (refusal.error, refusal.is_final) == (denied, False)
    written(producer, {})
    assert topic.created == [Topic("sensor")]


def test_a_deleted_topic_is_created_again(producer: EventProducer, topic: FakeTopic) -> None:
    written(producer, {})
    topic.is_there = False
    written(producer, {})

    assert topic.created == [Topic("sensor")] * 2


def test_the_policy_grow_adds_fields_to_the_newest_version(build: Build) -> None:
    said = written(build(policy=Policy.GROW), {"a": 1}, {"b": 1}, {"a": 1})

    assert [each["schema"]["version"] for each in said] == [1, 2, 2]


@pytest.mark.parametrize("policy", [Policy.EXACT, Policy.GROW])
def test_a_version_that_was_registered_with_another_text_is_not_registered_again(
    topic: FakeTopic, policy: Policy
) -> None:
    inner = CountedRegistry()
    schema = infer_schema({"temperature": 30}, "sensor", base=base_fields(READING))
    inner.store.create("memory/sensor", json.dumps(schema, indent=2))
    settings = ProducerSettings(KAFKA, "memory://", policy=policy)
    producer = EventProducer(settings, CachedRegistry(inner), topic, create_topic=True)  # type: ignore[arg-type]

    said = written(producer, {"temperature": 30}, {"temperature": 31})

    assert [each["schema"]["version"] for each in said] == [1, 1]
    assert not any(each["schema"]["created"] for each in said)
    assert inner.calls == ["versions"]


def test_versions_of_other_producers_are_merged_once(build: Build) -> None:
    one, other = build(), build()
    written(one, {"t": 1})
    with patch("penstock.producing.producer.VersionSet", wraps=VersionSet) as merging:
        written(other, {"t": 2}, {"t": 3}, {"t": 4})

    assert merging.call_count == 1
    assert (one.version_count, other.version_count) == (1, 1)


def test_the_versions_of_a_growing_schema_are_merged_in_linear_time(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    producer, count, merged = build(), 30, 0

    def count_merged(schemas: Iterable[Schema]) -> Schema:
        nonlocal merged
        given = list(schemas)
        merged += len(given)
        return merge_schemas(given)

    monkeypatch.setattr("penstock.schemas.policy.merge_schemas", count_merged)
    monkeypatch.setattr("penstock.schemas.merge.merge_schemas", count_merged)
    written(producer, *({f"f{number}": 1} for number in range(count)))

    assert producer.version_count == count
    # For each: to choose it, before and after it is registered, and in the lists of both.
    assert merged <= 12 * count


def test_versions_that_contradict_each_other_stay_refused_with_each_event(
    build: Build, registry: CachedRegistry
) -> None:
    producer = build(policy=Policy.GROW)
    assert written(producer, {"a": 1})
    versions = registry.versions("sensor")
    other = replace(
        versions[0], number=2, key=replace(versions[0].key, id=b"other"), schema="string"
    )

    with patch.object(registry, "versions", return_value=(*versions, other)):
        reasons = [refused(producer, {"b": 1}).message for _ in range(2)]

    assert "string in another" in reasons[0]
    assert reasons[0] == reasons[1]


def test_settings_have_defaults_and_name_all_problems() -> None:
    environ = {
        "KAFKA_BOOTSTRAP_SERVERS": "b-1:9098",
        "AWS_REGION": "eu-central-1",
        "PENSTOCK_REGISTRY": "glue://plant?external_id=hidden",
        "PENSTOCK_REJECTED_BUCKET": "rejected",
    }
    settings = IntakeSettings.from_environ(environ).producer
    with pytest.raises(SettingsError) as caught:
        IntakeSettings.from_environ(
            {
                "PENSTOCK_VERSION_BUDGET": "0",
                "PENSTOCK_POLICY": "any",
                "PENSTOCK_TOPIC_PARTITIONS": "0",
                "PENSTOCK_TOPIC_REPLICAS": "all",
                "PENSTOCK_TOPIC": "a b",
                "PENSTOCK_SCHEMA_NAME": "sensor-v1",
            }
        )

    assert (settings.topic, settings.schema_name, settings.device_id) == (
        *("sensor", "sensor", "000001"),
    )
    assert (settings.policy, settings.version_budget) == (Policy.GROW, 100)
    assert settings.new_topic == Topic("sensor")
    assert "hidden" not in repr(settings)
    found = " ".join(caught.value.problems)
    assert "PENSTOCK_VERSION_BUDGET is '0', expected the most versions of the schema" in found
    assert "PENSTOCK_TOPIC_PARTITIONS is '0', expected partitions of the topic if" in found
    assert "PENSTOCK_TOPIC_REPLICAS is 'all', expected replicas of the topic if" in found
    assert "PENSTOCK_TOPIC is 'a b', expected topic that the records go to, up to 249" in found
    assert "PENSTOCK_SCHEMA_NAME is 'sensor-v1', expected name of the events' schema and" in found
    assert "PENSTOCK_POLICY is 'any', expected schema of an event: grow" in found
    assert "PENSTOCK_REGISTRY (--registry) is missing" in found
    assert "PENSTOCK_REJECTED_BUCKET (--rejected-bucket) is missing" in found
    assert "KAFKA_BOOTSTRAP_SERVERS (--bootstrap-servers) is missing" in found


@pytest.mark.parametrize(
    ("variable", "wrong"),
    [
        *(("PENSTOCK_SCHEMA_NAME", name) for name in ("1sensor", "string", "a..b", "räume", "a-b")),
        *(("PENSTOCK_TOPIC", name) for name in (".", "..", "a/b", "ä", "x" * 250)),
        *(("PENSTOCK_VERSION_BUDGET", text) for text in ("1_0", " 7", "-1", "²")),
        *(("KAFKA_BOOTSTRAP_SERVERS", text) for text in ("b:0", "b:65536", "b:99999")),
    ],
)
def test_a_setting_that_no_event_could_be_written_with_is_refused(
    variable: str, wrong: str
) -> None:
    right = {
        "KAFKA_BOOTSTRAP_SERVERS": "b-1:65535",
        "KAFKA_SECURITY": "plaintext",
        "PENSTOCK_REGISTRY": "memory://",
        "PENSTOCK_SCHEMA_NAME": "com.acme.sensor",
        "PENSTOCK_TOPIC": "sensor-v1",
    }
    ProducerSettings.from_environ(right)

    with pytest.raises(SettingsError, match=f"^{variable} is '{wrong}', expected "):
        ProducerSettings.from_environ(right | {variable: wrong})


def test_a_producer_is_built_without_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []
    for name in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, name, lambda *words: calls.append(words))

    build_event_producer(ProducerSettings(KAFKA, "confluent+http://127.0.0.1:9"))

    assert calls == []
