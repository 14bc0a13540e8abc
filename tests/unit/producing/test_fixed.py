"""The policy fixed: events fit a schema that somebody registered, and register nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from penstock.errors import RegistryUnavailableError, SettingsError
from penstock.framing import decode_frame
from penstock.producing import EventProducer, Produced, ProducerSettings, Refusal
from penstock.records import Mode, RowShape
from penstock.registry import CachedRegistry, GlueRegistry, GlueSettings
from penstock.schemas import Compatibility, Policy, canonical_form
from tests.fixtures.glue_api import GlueApi
from tests.stubs.clock import FakeTime
from tests.stubs.registries import CountedRegistry, unavailable
from tests.stubs.topic import FakeTopic
from tests.unit.producing.conftest import KAFKA, refused, send, written
from tests.unit.registry.conftest import _local_glue, glue_api
from tests.unit.schemas.writing import field, record

__all__ = ["_local_glue", "glue_api"]

# A topic and a schema whose names differ, and events with a key and no time.
_TOPIC, _SCHEMA = "test", "test_payload_schema"
_SHAPE = RowShape(key=("id",), event_time=None)
_UPSERT = RowShape(key=("id",), sort_name=None, mode=Mode.UPSERT)
_FIRST = record(field("string", "id"), field("double", "total"), name="Payload")
_NUMBER = {"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": 1}
_SECOND = record(*_FIRST["fields"], field(["null", "long"], "count", default=None), name="Payload")

Register = Callable[[Any], str]


@pytest.fixture
def inner() -> CountedRegistry:
    return CountedRegistry()


@pytest.fixture
def time() -> FakeTime:
    return FakeTime()


@pytest.fixture
def register(inner: CountedRegistry) -> Register:
    """Register a version as another program does, and return its id."""
    subject = f"memory/{_SCHEMA}"

    def register(schema: Any) -> str:
        text = canonical_form(schema)
        made = inner.store.create(subject, text, Compatibility.NONE)
        return made.id if made else inner.store.add(subject, text).id

    return register


@pytest.fixture
def build(inner: CountedRegistry, time: FakeTime, topic: FakeTopic) -> Callable[..., EventProducer]:
    """Build a producer with the policy fixed, with changes to its settings."""

    def build(shape: RowShape = _SHAPE, schema: str = _SCHEMA) -> EventProducer:
        settings = ProducerSettings(
            KAFKA, "memory://", _TOPIC, schema_name=schema, policy=Policy.FIXED, shape=shape
        )
        cached = CachedRegistry(inner, clock=time.clock)
        return EventProducer(settings, cached, topic, create_topic=True)  # type: ignore[arg-type]

    return build


@pytest.fixture
def producer(build: Callable[..., EventProducer]) -> EventProducer:
    return build()


def test_ten_events_of_the_registered_schema_are_ten_records(
    producer: EventProducer, register: Register, inner: CountedRegistry, topic: FakeTopic
) -> None:
    version_id = register(_FIRST)
    events = [{"id": f"r-{number}", "total": number} for number in range(10)]

    said = written(producer, *events)

    assert [(each["topic"], each["offset"]) for each in said] == [("test", i) for i in range(10)]
    assert {(each["schema"]["version"], each["schema"]["created"]) for each in said} == {(1, False)}
    assert {each["schema"]["id"] for each in said} == {version_id}
    assert topic.events(inner) == [event | {"total": float(event["total"])} for event in events]
    assert [each.key for each in topic.records] == [each["id"].encode() for each in events]
    assert producer.version_count == 1
    assert "register" not in inner.calls


@pytest.mark.parametrize(
    ("event", "found"),
    [
        ({"id": "r", "total": "7"}, "total: found the string '7', expected double"),
        ({"id": "r"}, "total: found no value, expected double, which every event must have"),
        (
            {"id": "r", "total": 1, "note": None},
            "note: found null, expected no such field in record Payload",
        ),
    ],
)
def test_an_event_that_does_not_fit_is_refused_and_nothing_is_registered(
    producer: EventProducer, register: Register, inner: CountedRegistry, event: Any, found: str
) -> None:
    register(_FIRST)

    refusals = [refused(producer, event) for _ in range(3)]

    assert {(each.reason, each.rule, each.is_final) for each in refusals} == {
        ("EventMismatchError", "an event fits the registered schema", True)
    }
    assert refusals[0].message == (
        f"{found}, as version 1 of schema test_payload_schema says: correct the event, or "
        "register a version that it fits and replay it"
    )
    assert refusals[0].error.path == found.partition(":")[0]  # type: ignore[attr-defined]
    assert "register" not in inner.calls
    assert len(inner.store.list_versions(f"memory/{_SCHEMA}")) == 1


def test_events_wait_for_a_schema_that_is_not_registered(
    producer: EventProducer, register: Register, inner: CountedRegistry
) -> None:
    event = {"id": "r", "total": 1}
    refusal = refused(producer, event)

    assert (refusal.reason, refusal.is_final) == ("SchemaNotFoundError", False)
    assert refusal.message == (
        "found no usable version of schema test_payload_schema, and the policy fixed registers "
        "none: register the schema, then send the event again or replay it"
    )
    assert "register" not in inner.calls
    register(_FIRST)
    written(producer, event)


def test_a_version_of_somebody_else_is_followed_at_once(
    producer: EventProducer, register: Register, inner: CountedRegistry
) -> None:
    register(_FIRST)
    written(producer, {"id": "r", "total": 1})
    register(_SECOND)

    said = written(producer, *[{"id": "r", "total": 1, "count": 2}] * 3, {"id": "r", "total": 1})

    assert [each["schema"]["version"] for each in said] == [2, 2, 2, 1]
    assert inner.calls == ["versions"] * 2
    assert producer.version_count == 2


def test_a_version_is_followed_within_30_s_by_events_that_fit_the_one_before(
    producer: EventProducer, register: Register, time: FakeTime
) -> None:
    event = {"id": "r", "total": 1}
    register(_FIRST)
    written(producer, event)
    register(_SECOND)
    (before,) = written(producer, event)
    time.sleep(31)
    (after,) = written(producer, event)

    assert (before["schema"]["version"], after["schema"]["version"]) == (1, 2)


def test_the_versions_are_listed_once_for_all_events_of_a_batch(
    producer: EventProducer, register: Register, inner: CountedRegistry
) -> None:
    register(_FIRST)

    outcomes = send(producer, *({"id": "r", f"f{number}": 1} for number in range(50)))

    assert all(isinstance(each, Refusal) and each.is_final for each in outcomes)
    assert inner.calls == ["versions"] * 2


def test_events_wait_for_a_registry_that_is_down(
    producer: EventProducer, register: Register, inner: CountedRegistry
) -> None:
    register(_FIRST)
    fits, other = {"id": "r", "total": 1}, {"id": "r", "count": 1}
    inner.down = unavailable
    cold = refused(producer, fits)
    inner.down = None
    written(producer, fits)
    inner.down = unavailable

    warm = send(producer, fits, other)

    assert (type(cold.error), cold.is_final) == (RegistryUnavailableError, False)
    assert [type(each) for each in warm] == [Produced, Refusal]
    assert isinstance(warm[1], Refusal)
    assert (type(warm[1].error), warm[1].is_final) == (RegistryUnavailableError, False)


def test_events_wait_for_a_schema_that_was_deleted(
    producer: EventProducer, register: Register, inner: CountedRegistry, time: FakeTime
) -> None:
    version_id = register(_FIRST)
    written(producer, {"id": "r", "total": 1})
    inner.store.delete(version_id)

    at_once = refused(producer, {"id": "r", "total": 1, "count": 2})
    written_again = refused(producer, {"id": "r", "total": 1})
    register(_SECOND)
    time.sleep(31)

    for each in (at_once, written_again):
        assert (each.reason, each.is_final) == ("SchemaNotFoundError", False)
    (said,) = written(producer, {"id": "r", "total": 1})
    assert said["schema"]["version"] == 2
    assert "register" not in inner.calls


def test_base_fields_are_added_where_the_schema_has_them(
    build: Callable[..., EventProducer],
    register: Register,
    inner: CountedRegistry,
    topic: FakeTopic,
) -> None:
    register(record(field("string", "deviceId"), field("long", "timestamp"), field("long", "t")))
    written(build(RowShape()), {"t": 1}, {"t": 2, "deviceId": "d-7", "timestamp": 5})

    first, second = topic.events(inner)
    assert (first["deviceId"], first["t"]) == ("000001", 1)
    assert first["timestamp"] > 1_700_000_000_000
    assert second == {"deviceId": "d-7", "timestamp": 5, "t": 2}
    assert [each.key for each in topic.records] == [b"000001", b"d-7"]


def test_a_key_can_come_from_the_default_of_the_schema(
    producer: EventProducer, register: Register, topic: FakeTopic
) -> None:
    register(record(field("string", "id", default="hall"), field("long", "t")))
    written(producer, {"t": 1})

    assert [each.key for each in topic.records] == [b"hall"]


def test_a_key_may_be_one_of_several_types(
    producer: EventProducer, register: Register, topic: FakeTopic
) -> None:
    register(record(field(["string", "long"], "id")))
    written(producer, {"id": "hall"}, {"id": 17})

    assert [each.key for each in topic.records] == [b"hall", b"17"]


@pytest.mark.parametrize("type_", [_NUMBER, _NUMBER | {"type": "fixed", "name": "n", "size": 3}])
def test_a_key_may_be_a_decimal_that_is_a_whole_number(
    producer: EventProducer, register: Register, topic: FakeTopic, type_: Any
) -> None:
    register(record(field(["null", type_], "id")))

    written(producer, {"id": 17})
    refusal = refused(producer, {"id": 17.5})

    assert [each.key for each in topic.records] == [b"17"]
    assert refusal.message == "id: found 17.5, expected a string or a whole number"


def test_a_key_that_is_null_is_refused(producer: EventProducer, register: Register) -> None:
    register(record(field(["null", "string"], "id"), field("long", "t")))

    refusal = refused(producer, {"t": 1})

    assert refusal.is_final
    assert "id: found no value, expected a string or a whole number" in refusal.message


@pytest.mark.parametrize(
    ("shape", "schema", "problems"),
    [
        (
            RowShape(),
            _FIRST,
            [
                "PENSTOCK_KEY names deviceId, expected a field of version 1 of schema "
                "test_payload_schema: id, total",
                "PENSTOCK_EVENT_TIME names timestamp, expected a field of version 1 of schema "
                "test_payload_schema: id, total",
            ],
        ),
        (
            _UPSERT,
            _FIRST,
            [
                "PENSTOCK_EVENT_TIME names timestamp, expected a field of version 1 of schema "
                "test_payload_schema: id, total",
            ],
        ),
        (
            _SHAPE,
            record(*(field("long", f"f{number}") for number in range(23))),
            [
                "PENSTOCK_KEY names id, expected a field of version 1 of schema "
                f"test_payload_schema: {', '.join(f'f{i}' for i in range(20))} and 3 more",
            ],
        ),
        (
            _SHAPE,
            record(),
            [
                "PENSTOCK_KEY names id, expected a field of version 1 of schema "
                "test_payload_schema: (it has none)",
            ],
        ),
        (
            _SHAPE,
            {"type": "map", "values": "long"},
            [
                "PENSTOCK_SCHEMA_NAME names version 1 of schema test_payload_schema, expected the "
                "schema of a record",
            ],
        ),
    ],
)
def test_events_wait_while_settings_and_schema_contradict_each_other(
    build: Callable[..., EventProducer],
    register: Register,
    shape: RowShape,
    schema: Any,
    problems: list[str],
) -> None:
    register(schema)

    refusal = refused(build(shape), {"id": "r", "total": 1})

    assert not refusal.is_final
    assert isinstance(refusal.error, SettingsError)
    assert list(refusal.error.problems) == problems


def test_a_schema_may_have_any_name_that_a_registry_takes() -> None:
    environ = {
        "KAFKA_BOOTSTRAP_SERVERS": "b-1:9098",
        "KAFKA_SECURITY": "plaintext",
        "PENSTOCK_REGISTRY": "memory://",
        "PENSTOCK_SCHEMA_NAME": "1-payload.v2",
        "PENSTOCK_POLICY": "fixed",
    }

    assert ProducerSettings.from_environ(environ).schema_name == "1-payload.v2"


def test_glue_is_asked_for_the_list_and_the_version_and_nothing_else(
    glue_api: GlueApi, topic: FakeTopic
) -> None:
    version_id = glue_api.create(_SCHEMA, canonical_form(_FIRST))
    registry = GlueRegistry(GlueSettings("plant"), glue_api.client)  # type: ignore[arg-type]
    settings = ProducerSettings(
        KAFKA, "glue://plant", _TOPIC, schema_name=_SCHEMA, policy=Policy.FIXED, shape=_SHAPE
    )
    producer = EventProducer(settings, CachedRegistry(registry), topic, create_topic=True)  # type: ignore[arg-type]

    for number in range(3):
        written(producer, {"id": "r", "total": number})
    refused(producer, {"id": "r", "total": "7"})
    refused(producer, {"id": "r", "total": 1, "count": 1})

    # The list again for each of the two events that do not fit.
    assert glue_api.calls == ["ListSchemaVersions", "GetSchemaVersion", *["ListSchemaVersions"] * 2]
    frame = decode_frame(topic.records[0].value or b"")
    assert frame is not None
    assert str(frame.key) == version_id
