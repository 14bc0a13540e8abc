"""Events are written under a schema that readers find, or refused before anything is written."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest

from penstock.errors import (
    DeliveryError,
    RecordTooLargeError,
    RegistryAnswerError,
    RegistryUnavailableError,
    SettingsError,
    TopicForbiddenError,
    TopicNotFoundError,
)
from penstock.framing import Compression, decode_frame
from penstock.producing import (
    EventProducer,
    Produced,
    ProducerSettings,
    Refusal,
    build_event_producer,
)
from penstock.registry import CachedRegistry, MemoryRegistry
from penstock.schemas import Compatibility, Policy, Schema, VersionSet
from tests.stubs.topic import FakeTopic
from tests.unit.producing.conftest import KAFKA, send

Build = Callable[..., EventProducer]


def _written(producer: EventProducer, *events: Any) -> list[dict[str, Any]]:
    outcomes = send(producer, *events)
    assert all(isinstance(each, Produced) for each in outcomes), outcomes
    return [each.describe() for each in outcomes if isinstance(each, Produced)]


def _refused(producer: EventProducer, event: Any, **more: Any) -> Refusal:
    (outcome,) = send(producer, event, **more)
    assert isinstance(outcome, Refusal)
    return outcome


def test_the_schema_follows_the_events(producer: EventProducer) -> None:
    said = [*_written(producer, {}), *_written(producer, {"temperature": 30}, {})]

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
    _written(producer, {"temperature": 30, "o": {"x": [1, None]}})
    _written(producer, {"deviceId": "d-7", "timestamp": 5})

    first, second = topic.events(registry)
    assert [(each.topic, each.key) for each in topic.records] == [
        ("sensor", b"000001"),
        ("sensor", b"d-7"),
    ]
    assert first.pop("timestamp") > 1_700_000_000_000
    assert first == {"deviceId": "000001", "temperature": 30, "o": {"x": [1, None]}}
    assert second == {"deviceId": "d-7", "timestamp": 5}


def test_a_payload_is_compressed_where_that_pays(producer: EventProducer, topic: FakeTopic) -> None:
    _written(producer, {}, {"text": "x" * 1_000})

    frames = [decode_frame(each.value or b"") for each in topic.records]
    assert [frame and frame.compression for frame in frames] == [Compression.NONE, Compression.ZLIB]


def test_the_topic_is_made_with_the_first_events_only(
    producer: EventProducer, topic: FakeTopic
) -> None:
    assert topic.created == []
    for _ in range(2):
        _written(producer, {}, {})

    assert topic.created == ["sensor"]


def test_a_topic_that_could_not_be_made_is_tried_again(
    producer: EventProducer, topic: FakeTopic
) -> None:
    denied = TopicForbiddenError("may not create it")
    with patch("penstock.producing.producer.ensure_topic", side_effect=denied):
        refusal = _refused(producer, {})

    assert (refusal.error, refusal.is_final) == (denied, False)
    _written(producer, {})
    assert topic.created == ["sensor"]


def test_a_topic_that_somebody_deleted_is_made_again(
    producer: EventProducer, topic: FakeTopic
) -> None:
    _written(producer, {})
    topic.refused = {0: TopicNotFoundError("topic 'sensor' does not exist")}
    assert not _refused(producer, {}).is_final
    topic.refused = {}
    _written(producer, {})

    assert topic.created == ["sensor"] * 2


def test_a_record_that_is_too_large_is_no_fault_of_the_topic(
    producer: EventProducer, topic: FakeTopic
) -> None:
    topic.refused = {1: RecordTooLargeError("1 MB, expected less")}
    outcomes = send(producer, {}, {"a": 1}, {})
    topic.refused = {}
    _written(producer, {})

    assert [isinstance(each, Produced) for each in outcomes] == [True, False, True]
    assert isinstance(outcomes[1], Refusal)
    assert outcomes[1].rule == "a record is no larger than its topic takes"
    assert topic.created == ["sensor"]


@pytest.mark.parametrize(
    ("event", "reason", "message", "diff"),
    [
        ([1], "EventTextError", "found a list, expected a JSON object", ()),
        ("text", "EventTextError", "found the text 'text', expected a JSON object", ()),
        (None, "EventTextError", "found null, expected a JSON object", ()),
        ({"t": float("nan")}, "EventTextError", "t: found NaN, expected a number", ()),
        ({"t": 2**63}, "EventValueError", "expected a whole number within 64 bits", ()),
        (
            {"temperature": "warm", "new": 1},
            "SchemaConflictError",
            "temperature: found the text 'warm', expected long as in the versions before",
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
    ],
    ids=str,
)
def test_what_cannot_be_accepted_is_refused_and_its_neighbours_work(
    producer: EventProducer, event: Any, reason: str, message: str, diff: tuple[str, ...]
) -> None:
    _written(producer, {"temperature": 30, "humidity": 1})

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


def test_an_event_that_is_too_deep_to_be_written_as_json_is_refused(
    producer: EventProducer,
) -> None:
    deep: Any = {}
    for _ in range(100_000):
        deep = {"o": deep}

    refusal = _refused(producer, deep)

    assert refusal.reason == "EventLimitError"
    assert "deep" in str(refusal.error)


def test_what_kafka_does_not_acknowledge_is_not_said_to_be_written(
    producer: EventProducer, topic: FakeTopic
) -> None:
    topic.failure = DeliveryError("not acknowledged within 10 s")

    refusal = _refused(producer, {})

    assert (refusal.error, refusal.is_final) == (topic.failure, False)


def test_a_kafka_that_hangs_is_given_up_in_time(producer: EventProducer, topic: FakeTopic) -> None:
    topic.hanging = threading.Event()
    began = time.monotonic()

    refusal = _refused(producer, {}, seconds=0.5)

    assert 0.4 < time.monotonic() - began < 5
    assert str(refusal.error) == "not acknowledged within 0.5 s, it may or may not be written"
    assert not refusal.is_final
    topic.hanging.set()


def test_a_registry_that_hangs_leaves_time_for_what_is_known(
    producer: EventProducer, registry: CachedRegistry, topic: FakeTopic
) -> None:
    _written(producer, {})
    freed, register = threading.Event(), registry.register

    def hang(name: str, schema: Schema) -> Any:
        if len(schema["fields"]) > 2:
            freed.wait(30)
        return register(name, schema)

    with patch.object(registry, "register", hang):
        outcomes = send(producer, {}, {"a": 1}, {}, seconds=1)
        freed.set()

    assert [type(each) for each in outcomes] == [Produced, Refusal, Refusal]
    assert str(outcomes[1].error) == "its schema is not known after 1 s"  # type: ignore[union-attr]
    assert len(topic.records) == 2


def test_an_answer_that_cannot_be_right_is_asked_for_again(
    producer: EventProducer, registry: CachedRegistry
) -> None:
    wrong = RegistryAnswerError("another version than was asked for")
    registration = registry.register("sensor", {"type": "record", "name": "sensor", "fields": []})
    calls = [wrong, wrong, registration]
    with (
        patch("penstock.attempts.time.sleep"),
        patch.object(registry, "register", side_effect=calls) as register,
    ):
        found = producer._register({})

    assert found is registration
    assert register.call_count == 3


def test_an_answer_that_is_never_right_is_given_up(
    producer: EventProducer, registry: CachedRegistry
) -> None:
    wrong = RegistryAnswerError("another version than was asked for")
    with patch.object(registry, "register", side_effect=wrong) as register:
        refusal = _refused(producer, {})

    assert (refusal.error, refusal.is_final) == (wrong, False)
    assert 3 <= register.call_count <= 6


def test_a_registry_that_is_down_stops_new_schemas_only(
    producer: EventProducer, registry: CachedRegistry
) -> None:
    _written(producer, {})
    down = RegistryUnavailableError("down")
    with patch.object(registry._registry, "register", side_effect=down):
        outcomes = send(producer, {"a": 1}, {})

    assert [type(each) for each in outcomes] == [Refusal, Produced]
    assert not outcomes[0].is_final  # type: ignore[union-attr]


def test_a_refusal_says_which_rule_of_the_registry_it_was(topic: FakeTopic) -> None:
    registry = CachedRegistry(MemoryRegistry(compatibility=Compatibility.DISABLED))
    settings = ProducerSettings(KAFKA, "memory://", "rejected")
    producer = EventProducer(settings, registry, topic)  # type: ignore[arg-type]
    _written(producer, {})

    refusal = _refused(producer, {"a": 1})

    assert (refusal.reason, refusal.rule) == ("IncompatibleSchemaError", "DISABLED")
    assert refusal.diff == ("+ a: long (optional)",)


def test_versions_stay_within_the_budget(build: Build) -> None:
    producer = build(version_budget=1)
    _written(producer, {})

    refusal = _refused(producer, {"a": 1})

    assert "found 1 versions and expected at most 1" in str(refusal.error)
    assert refusal.rule == "a schema has no more versions than its budget"
    assert refusal.diff == ("+ a: long (optional)",)


def test_versions_grow_where_that_is_the_policy(build: Build) -> None:
    said = _written(build(policy=Policy.GROW), {"a": 1}, {"b": 1}, {"a": 1})

    assert [each["schema"]["version"] for each in said] == [1, 2, 2]


def test_versions_of_others_are_learnt_and_merged_once(build: Build) -> None:
    one, other = build(), build()
    _written(one, {"t": 1})
    with patch("penstock.producing.producer.VersionSet", wraps=VersionSet) as merging:
        _written(other, {"t": 2}, {"t": 3}, {"t": 4})

    assert merging.call_count == 1
    assert (one.version_count, other.version_count) == (1, 1)


def test_settings_have_defaults_and_say_all_that_is_wrong() -> None:
    environ = {
        "KAFKA_BOOTSTRAP_SERVERS": "b-1:9098",
        "AWS_REGION": "eu-central-1",
        "PENSTOCK_REGISTRY": "glue://plant?external_id=hidden",
        "PENSTOCK_REJECTED_BUCKET": "rejected",
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
    assert "PENSTOCK_REJECTED_BUCKET (--rejected-bucket) is missing" in found
    assert "KAFKA_BOOTSTRAP_SERVERS (--bootstrap-servers) is missing" in found


def test_a_producer_is_built_without_a_call() -> None:
    build_event_producer(ProducerSettings(KAFKA, "memory://", "rejected"))
