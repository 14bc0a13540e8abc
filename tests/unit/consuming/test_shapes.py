"""An event without a device is carried by its own key, from the producer to its row."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from penstock.consuming import Consumed, Consumer
from penstock.errors import Reason
from penstock.framing import FrameKind, SchemaKey, encode_frame
from penstock.kafka import KafkaSettings, Security
from penstock.producing import EventProducer, Produced, ProducerSettings, Refusal, Stamper
from penstock.records import KeyFormat, Mode, Record, RowShape, Source, Tombstone
from penstock.registry import CachedRegistry, Registries
from penstock.registry.memory import MemoryRegistry
from penstock.schemas import TIME_MEANING, Policy, encode
from tests.stubs.consuming import FakeErrors, FakeTable
from tests.stubs.topic import FakeTopic

KAFKA = KafkaSettings(("127.0.0.1:9",), Security.PLAINTEXT)
_ORDERS = RowShape(
    ("orderId",), sort_name=None, event_time=None, order=("version",), mode=Mode.UPSERT
)


@pytest.fixture
def topic() -> Iterator[FakeTopic]:
    topic = FakeTopic()
    with topic.in_place():
        yield topic


def _produce(
    shape: RowShape, topic: FakeTopic, registry: MemoryRegistry, *events: Any, **more: Any
) -> list[Any]:
    settings = ProducerSettings(KAFKA, "memory://", shape=shape, schema_name="order", **more)
    producer = EventProducer(settings, CachedRegistry(registry), topic, create_topic=True)  # type: ignore[arg-type]
    stamper = Stamper(shape, "000001")
    return producer.produce([stamper.stamp(event) for event in events], 10)


def _consume(
    shape: RowShape, registry: MemoryRegistry, *records: Record
) -> tuple[Consumed, FakeTable, FakeErrors]:
    table, errors = FakeTable(shape), FakeErrors()
    consumer = Consumer(Registries([registry]), table, errors, "lambda")  # type: ignore[arg-type]
    return consumer.consume(records), table, errors


def test_an_event_is_carried_by_its_own_key(topic: FakeTopic) -> None:
    registry = MemoryRegistry()

    outcomes = _produce(_ORDERS, topic, registry, {"orderId": "o-1", "version": 2, "paid": True})

    (sent,) = topic.records
    assert isinstance(outcomes[0], Produced)
    assert sent.key == b"o-1"
    record = Record(Source("sensor", 0, 0), sent.key, sent.value)
    consumed, table, _ = _consume(_ORDERS, registry, record)
    (row,) = table.rows.values()
    assert consumed.written == 1
    assert {name: row[name] for name in ("orderId", "version", "paid")} == {
        "orderId": "o-1", "version": 2, "paid": True,
    }  # fmt: skip
    assert not {"deviceId", "readingId", "timestamp"} & row.keys()


_AMOUNT = {"type": "bytes", "logicalType": "decimal", "precision": 20, "scale": 2}
_COINS = {**_AMOUNT, "type": "fixed", "name": "Coins", "size": 9}


@pytest.mark.parametrize("type_", [_AMOUNT, ["null", _AMOUNT], _COINS], ids=str)
def test_a_decimal_orders_the_versions_of_a_row(topic: FakeTopic, type_: Any) -> None:
    registry = MemoryRegistry()
    fields = [{"name": "orderId", "type": "string"}, {"name": "version", "type": type_}]
    registry.register("order", {"type": "record", "name": "order", "fields": fields})
    events = [{"orderId": "o-1", "version": each} for each in (7, 30.5, Decimal("0.1"))]

    *sent, refusal = _produce(_ORDERS, topic, registry, *events, policy=Policy.FIXED)

    assert all(isinstance(each, Produced) for each in sent), sent
    assert str(refusal.error) == (
        "version: found 0.1, expected a decimal that a long or a double holds with all its digits"
    )
    rows = []
    for at, each in enumerate(topic.records):
        _, table, _ = _consume(_ORDERS, registry, Record(Source("s", 0, at), each.key, each.value))
        rows += table.rows.values()
    assert [row["version"] for row in rows] == [7, Decimal("30.5")]
    assert rows[0]["_order"] < rows[1]["_order"]


def test_a_key_and_a_time_may_have_names_that_avro_does_not_allow(topic: FakeTopic) -> None:
    registry, shape = MemoryRegistry(), RowShape(("device-id",), event_time="event-time")

    outcomes = _produce(shape, topic, registry, {"device-id": "d-1", "t": 1})

    assert isinstance(outcomes[0], Produced), outcomes
    (sent,) = topic.records
    assert sent.key == b"d-1"
    _, table, _ = _consume(shape, registry, Record(Source("s", 0, 0), sent.key, sent.value))
    (row,) = table.rows.values()
    assert (row["device-id"], row["t"]) == ("d-1", 1)
    assert row["readingId"] == f"{row['event-time']:013d}-s-0-0"


def test_an_event_without_its_key_is_rejected_before_its_schema_is_registered(
    topic: FakeTopic,
) -> None:
    registry = MemoryRegistry()

    (refusal,) = _produce(_ORDERS, topic, registry, {"version": 2})

    assert isinstance(refusal, Refusal)
    assert refusal.is_final
    assert str(refusal.error) == (
        "orderId: found no value, expected string, which every event must have"
    )
    assert registry.versions("order") == ()


def test_a_key_of_several_fields_has_them_all(topic: FakeTopic) -> None:
    registry = MemoryRegistry()
    shape = RowShape(("shop", "number"), "pk", sort_name="sk", event_time="at")

    one, other = _produce(shape, topic, registry, {"shop": "s", "number": 7}, {"shop": "s"})

    assert isinstance(one, Produced)
    assert isinstance(other, Refusal)
    (sent,) = topic.records
    assert sent.key == b"s/7"
    _, table, _ = _consume(shape, registry, Record(Source("sensor", 0, 0), sent.key, sent.value))
    (row,) = table.rows.values()
    assert row["pk"] == "s/7"
    assert row["sk"] == f"{row['at']:013d}-sensor-0-0"


@pytest.mark.parametrize(
    ("value", "found"), [(1.5, "1.5"), (None, "no value"), ([1], "of type list"), (True, "True")]
)
def test_a_key_of_several_fields_has_texts_and_whole_numbers(
    topic: FakeTopic, value: Any, found: str
) -> None:
    shape = RowShape(("shop", "number"), "pk", sort_name="sk", event_time=None)

    (refusal,) = _produce(shape, topic, MemoryRegistry(), {"shop": "s", "number": value})

    assert isinstance(refusal, Refusal)
    assert f"number: found {found}, expected a string or a whole number" in str(refusal.error)


_LINES = RowShape(("orderId",), sort=("line",), sort_name="line", event_time="at", mode=Mode.UPSERT)


@pytest.mark.parametrize(
    ("shape", "event", "problem"),
    [
        (_ORDERS, {}, "version: found null, expected a number or a string"),
        (_ORDERS, {"version": True}, "version: found True, expected a number or a string"),
        (_ORDERS, {"version": [1]}, "version: found of type list, expected a number or a string"),
        (_LINES, {}, "line: found no value, expected a string or a whole number"),
        (_LINES, {"line": ""}, "line: found an empty string, expected a key"),
        (_LINES, {"line": 7.5}, "line: found 7.5, expected a string or a whole number"),
        (_LINES, {"line": "l" * 1_025}, "line: found a key of 1025 bytes, expected at most 1024"),
    ],
    ids=str,
)
def test_an_event_that_can_be_no_row_is_rejected_before_its_schema_is_registered(
    topic: FakeTopic, shape: RowShape, event: dict[str, Any], problem: str
) -> None:
    registry = MemoryRegistry()

    refusal, written = _produce(
        shape,
        topic,
        registry,
        {"orderId": "o"} | event,
        {"orderId": "o", "version": 1, "line": "x"},
    )

    assert isinstance(refusal, Refusal)
    assert refusal.is_final
    assert str(refusal.error).removesuffix(", which every event must have") == problem
    assert isinstance(written, Produced)
    (version,) = registry.versions("order")
    assert version.key == written.registration.version.key


@pytest.mark.parametrize(
    ("shape", "base", "event", "problem"),
    [
        (
            RowShape(),
            {"deviceId": ["null", "string"], "timestamp": "long"},
            {"deviceId": None},
            "deviceId: found null, expected string",
        ),
        (
            RowShape(),
            {"deviceId": "string", "timestamp": ["null", "long"]},
            {"timestamp": None},
            f"timestamp: found null, expected {TIME_MEANING}",
        ),
        (
            RowShape(),
            {"deviceId": "string", "timestamp": "double"},
            {"timestamp": 5},
            f"timestamp: found 5.0, expected {TIME_MEANING}",
        ),
        (
            RowShape(("shop", "number"), "pk", sort_name="sk", event_time=None),
            {"shop": "string", "number": "double"},
            {"shop": "s", "number": 5},
            "number: found 5.0, expected a string or a whole number",
        ),
    ],
    ids=str,
)
def test_an_event_that_a_version_of_another_program_keeps_from_being_a_row_is_rejected(
    topic: FakeTopic, shape: RowShape, base: dict[str, Any], event: dict[str, Any], problem: str
) -> None:
    registry = MemoryRegistry()
    fields = [{"name": name, "type": type_} for name, type_ in base.items()]
    registry.register("order", {"type": "record", "name": "order", "fields": fields})

    (refusal,) = _produce(shape, topic, registry, event, policy=Policy.GROW)

    assert isinstance(refusal, Refusal)
    assert str(refusal.error) == problem
    assert len(registry.versions("order")) == 1


def test_a_tombstone_deletes_the_row_of_its_key() -> None:
    shape = RowShape(
        ("orderId",), sort_name=None, event_time=None, mode=Mode.UPSERT, tombstone=Tombstone.DELETE
    )

    consumed, table, errors = _consume(
        shape,
        MemoryRegistry(),
        Record(Source("orders", 0, 3), b"o-1", None),
        Record(Source("orders", 0, 4), None, None),
    )

    assert consumed == Consumed(1, {Reason.UNROUTABLE: 1}, 0)
    (row,) = table.rows.values()
    assert (row["orderId"], row["_deleted"]) == ("o-1", True)
    (failed,) = errors.rows.values()
    assert failed.failure.detail.endswith("found a tombstone with key null, expected a string")


def test_a_topic_whose_key_fields_are_in_the_key_is_upserted_and_deleted() -> None:
    shape = RowShape(
        ("shop", "id"), "pk", sort_name=None, event_time=None, mode=Mode.UPSERT,
        tombstone=Tombstone.DELETE, key_format=KeyFormat.AVRO,
    )  # fmt: skip
    registry = MemoryRegistry()
    fields = [{"name": "shop", "type": "string"}, {"name": "id", "type": "long"}]
    key_schema = {"type": "record", "name": "Key", "fields": fields}
    value_schema = {"type": "record", "name": "V", "fields": [{"name": "paid", "type": "boolean"}]}
    keyed = registry.register("orders-key", key_schema).version
    valued = registry.register("orders", value_schema).version
    key = encode_frame(keyed.key, encode({"shop": "a", "id": 7}, key_schema))
    value = encode_frame(valued.key, encode({"paid": True}, value_schema))

    consumed, table, errors = _consume(
        shape,
        registry,
        Record(Source("orders", 0, 0), key, value),
        Record(Source("orders", 0, 1), key, None),
        Record(Source("orders", 0, 2), b"a/7", value),
        Record(
            Source("orders", 0, 3), encode_frame(SchemaKey(FrameKind.GLUE, bytes(16)), b""), value
        ),
    )

    assert consumed == Consumed(2, {Reason.UNROUTABLE: 1, Reason.UNKNOWN_SCHEMA: 1}, 0)
    upsert, deletion = table.rows.values()
    assert (upsert["pk"], upsert["paid"]) == ("a/7", True)
    assert (deletion["pk"], deletion["_deleted"]) == ("a/7", True)
    assert upsert["_order"] < deletion["_order"]
    assert [*errors.rows] == ["orders/0/2", "orders/0/3"]


def test_a_tombstone_can_be_a_dead_letter() -> None:
    shape = RowShape(tombstone=Tombstone.DEAD_LETTER)

    consumed, _, errors = _consume(
        shape, MemoryRegistry(), Record(Source("orders", 0, 3), b"o-1", None)
    )

    assert consumed == Consumed(0, {Reason.UNROUTABLE: 1}, 0)
    (failed,) = errors.rows.values()
    assert failed.failure.detail == "found a tombstone, expected a value"
