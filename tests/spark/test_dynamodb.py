"""Executors write the rows that the Lambda would, and errors for what is none."""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import replace
from decimal import Decimal
from unittest.mock import Mock

import boto3
import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import functions as F

from localcloud.faults import Faults, Kind
from penstock.errors import Reason, SinkAccessDeniedError, SinkUnavailableError
from penstock.framing import FrameKind, SchemaKey, encode_frame
from penstock.records import KeyFormat, Mode, Record, RowShape, Source, make_row
from penstock.registry import CachedRegistry, Registries, RegistrySettings
from penstock.registry.memory import MemoryRegistry
from penstock.schemas import compile_event_decoder, encode
from penstock.spark.failures import DynamoDbErrors
from penstock.spark.query.parts import BatchContext
from penstock.spark.query.table_batches import TableBatches
from penstock.spark.sinks import records
from penstock.spark.sinks.base import SinkContext
from penstock.spark.sinks.dynamodb import DynamoDbTable
from penstock.spark.state.lease import NoLease
from penstock.spark.state.schema_ledger import Ledger
from penstock.tables import BatchId
from systems.tables import make_table
from tests.spark.lakes import NOON_MS, part
from tests.spark.records import frame, make_decoded, make_record, make_topic, make_version
from tests.spark.sinks import sink_settings

_BASE = [{"name": "deviceId", "type": "string"}, {"name": "timestamp", "type": "long"}]
_READING = (("deviceId", "string"), ("timestamp", "long"))
_ORDER = (("orderId", "string"), ("revision", "long"))
_VERSION = make_version(1, make_record(*_READING))
_READINGS = {"deviceId": "a", "timestamp": NOON_MS}
_MOMENT = {"type": "long", "logicalType": "timestamp-millis"}
_MONEY = {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}
_EVERYTHING = {
    "type": "record",
    "name": "Event",
    "fields": [
        *_BASE,
        {"name": "whole", "type": ["null", "long"]},
        {"name": "broken", "type": ["null", "double"]},
        {"name": "at_home", "type": ["null", "boolean"], "jsonName": "at home"},
        {"name": "raw", "type": "bytes"},
        {"name": "seen", "type": _MOMENT},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "price", "type": _MONEY},
        {"name": "either", "type": ["null", "long", "string"]},
        # Avro ignores logical types that are not defined for a type.
        {"name": "odd", "type": {"type": "long", "logicalType": "date"}},
        {"name": "odd_money", "type": {"type": "string", "logicalType": "decimal"}},
        {"name": "list", "type": {"type": "array", "items": ["null", "double"]}},
        {
            "name": "inside",
            "type": {
                "type": "map",
                "values": {
                    "type": "record",
                    "name": "Inside",
                    "fields": [{"name": "a_b", "type": ["null", "float"], "jsonName": "a-b"}],
                },
            },
        },
    ],
}
_RECORD = {
    "deviceId": "a",
    "timestamp": NOON_MS,
    "whole": 2**62 + 1,
    "broken": 0.1,
    "at_home": True,
    "raw": b"\0\xff",
    "seen": -1,
    "day": -1,
    "price": (-12345).to_bytes(2, "big", signed=True),
    "either": "text",
    "odd": 7,
    "odd_money": "1.27",
    "list": [1.5, None],
    "inside": {"k": {"a_b": 0.5}},
}


@pytest.fixture
def database(cloud):
    account = boto3.Session("111111111111", "any", region_name="eu-central-1")
    return account.resource("dynamodb", endpoint_url=cloud.endpoint)


@pytest.fixture
def bucket(cloud):
    account = boto3.Session("111111111111", "any", region_name="eu-central-1")
    made = account.resource("s3", endpoint_url=cloud.endpoint).create_bucket(
        Bucket=f"b-{secrets.token_hex(4)}",
        CreateBucketConfiguration={"LocationConstraint": "eu-central-1"},
    )
    yield made
    made.objects.delete()
    made.delete()


@pytest.fixture
def tables(cloud, database, executors_account):
    """Two tables in localcloud, whose endpoint the executors know."""
    name = f"t-{secrets.token_hex(4)}"
    made = [
        make_table(database, f"{name}-readings", "deviceId", "readingId"),
        make_table(database, f"{name}-errors", "id"),
    ]
    yield made
    cloud.state(Faults).clear()
    for table in made:
        table.delete()


@pytest.fixture
def orders(tables, database):
    """A table for orders, whose name differs from that of the readings in its last word."""
    made = make_table(database, tables[0].name.replace("readings", "orders"), "orderId")
    yield made
    made.delete()


@pytest.fixture
def sink(tables, bucket):
    return DynamoDbTable(tables[0].name, DynamoDbErrors(tables[1].name, bucket.name))


def _plain(value):
    """What a row holds as DynamoDB gives it back."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, float):
        return Decimal(repr(value))
    return value


def _record(offset):
    return Record(Source("t", 0, offset), None, None, (), NOON_MS)


def test_rows_are_those_of_the_lambda_and_come_again_as_the_same(spark, sink, tables):
    version = make_version(3, _EVERYTHING)
    values = [{**_RECORD, "either": either} for either in ("text", 7, None)]
    rows = make_decoded(spark, version, *values)

    for _ in range(2):
        assert sink.write(rows, part(0, 0, versions=[version])) == {}

    decode = compile_event_decoder(_EVERYTHING)
    events = [decode(encode(each, _EVERYTHING)) for each in values]
    expected = [
        _plain(make_row(RowShape(), event, _record(place), 3, str(version.key)))
        for place, event in enumerate(events)
    ]
    assert sorted(tables[0].scan()["Items"], key=lambda row: row["_source"]) == expected

    shape = RowShape(sort=("deviceId",), mode=Mode.UPSERT)
    assert replace(sink, shape=shape).write(rows, part(1, 0, versions=[version])) == {}
    newest = make_row(shape, events[2], _record(2), 3, str(version.key))
    found = tables[0].get_item(Key={"deviceId": "a", "readingId": "a"})
    assert found["Item"] == _plain(newest)


def _route(readings, errors):
    """Return the sinks of readings, and of orders, of which the newest stays."""
    shape = RowShape(
        ("orderId",), sort_name=None, event_time=None, order=("revision",), mode=Mode.UPSERT
    )
    return sink_settings(
        errors.name,
        "no-bucket",
        dynamodb_table=readings.name.replace("readings", "{table}"),
        route=(("sensor", "readings"), ("order", "orders")),
        shapes=(("orders", shape),),
    )


def test_events_without_a_device_go_to_their_own_table_under_their_own_key(
    spark, tables, orders, tmp_path
):
    readings, errors = tables
    kept, registry = DynamoDbErrors(errors.name, "no-bucket"), MemoryRegistry()
    sensor = registry.register("sensor", make_record(*_READING)).version
    order = registry.register("order", make_record(*_ORDER, name="Order")).version
    context = SinkContext(spark, kept, NoLease(), RegistrySettings("memory://"))
    batches = TableBatches(
        _route(readings, errors).open_tables(context),
        lambda _: Ledger(spark, str(tmp_path)),
        BatchContext(Registries([CachedRegistry(registry)]), kept),
    )
    values = [
        frame(sensor, {"deviceId": "a", "timestamp": NOON_MS}),
        frame(order, {"orderId": "o-1", "revision": 2}),
        frame(sensor, {"deviceId": "b", "timestamp": NOON_MS}),
        frame(order, {"orderId": "o-1", "revision": 1}),
        frame(order, {"orderId": "o-2", "revision": 1}),
    ]

    counts = batches.write_batch(make_topic(spark, values), BatchId("query", 0))

    assert (counts.rows, counts.errors) == (5, {})
    assert sorted(row["deviceId"] for row in readings.scan()["Items"]) == ["a", "b"]
    stored = orders.scan()["Items"]
    assert sorted((row["orderId"], row["revision"]) for row in stored) == [("o-1", 2), ("o-2", 1)]
    assert errors.scan()["Items"] == []


def test_key_fields_come_from_the_records_key(spark, sink, tables, client):
    glue, registry = client("glue"), f"keys-{secrets.token_hex(4)}"
    glue.create_registry(RegistryName=registry)
    schema = make_record(("deviceId", "long"), name="Key")
    made = glue.create_schema(
        RegistryId={"RegistryName": registry},
        SchemaName="readings-key",
        DataFormat="AVRO",
        Compatibility="BACKWARD",
        SchemaDefinition=json.dumps(schema),
    )
    good = encode_frame(SchemaKey.parse(made["SchemaVersionId"]), encode({"deviceId": 7}, schema))
    unknown = encode_frame(SchemaKey(FrameKind.GLUE, bytes(16)), b"")
    keys = (
        f"element_at(array(X'{good.hex()}', X'{unknown.hex()}', X'ff'), CAST(_offset AS INT) + 1)"
    )
    version = make_version(1, make_record(("timestamp", "long")))
    rows = make_decoded(spark, version, *({"timestamp": at} for at in (1, 2, 3)))
    keyed = replace(
        sink,
        shape=RowShape(key_format=KeyFormat.AVRO),
        key_schemas=RegistrySettings(f"glue://{registry}?region=eu-central-1"),
    )

    given_up = keyed.write(rows.withColumn("_key", F.expr(keys)), part(0, 0, versions=[version]))

    assert given_up == {Reason.UNKNOWN_SCHEMA: 1, Reason.UNROUTABLE: 1}
    assert [row["deviceId"] for row in tables[0].scan()["Items"]] == ["7"]


def test_a_refused_row_is_kept_whole_and_its_neighbours_are_written(spark, sink, tables):
    version = make_version(
        1,
        make_record(
            ("deviceId", ["null", "string"]), ("timestamp", "long"), ("x", ["null", "double"])
        ),
    )
    events = [
        {"deviceId": device, "timestamp": NOON_MS, "x": x}
        for device, x in (("a", 1.5), ("b", 1e200), (None, 2.5), ("d", 3.5))
    ]

    given_up = sink.write(make_decoded(spark, version, *events), part(0, 0, versions=[version]))

    assert given_up == {Reason.SINK_REFUSED: 1, Reason.UNROUTABLE: 1}
    assert {row["deviceId"] for row in tables[0].scan()["Items"]} == {"a", "d"}
    errors = {row["id"]: row for row in tables[1].scan()["Items"]}
    assert {name: row["reason"] for name, row in errors.items()} == {
        f"t/0/1/{NOON_MS}/spark": "sink-refused",
        f"t/0/2/{NOON_MS}/spark": "unroutable",
    }
    refused = errors[f"t/0/1/{NOON_MS}/spark"]
    assert refused["detail"] == "x: found 1e+200, expected 0 or a size of 1e-130 to 9.99e+125"
    assert (refused["value"].value, refused["stage"], refused["schemaId"]) == (
        frame(version, events[1]),
        "spark",
        str(version.key),
    )


def _write(sink, rows):
    """Write after a task that failed, whose worker Spark may just be closing."""
    for _ in range(9):
        try:
            return sink.write(rows, part(0, 0, versions=[_VERSION]))
        except Py4JJavaError as error:
            if "CancelledKeyException" not in str(error):
                raise
    return sink.write(rows, part(0, 0, versions=[_VERSION]))


def test_a_table_that_denies_or_lacks_is_said_in_one_sentence(spark, cloud, sink, tables):
    rows = make_decoded(spark, _VERSION, _READINGS)
    cloud.state(Faults).add(
        kind=Kind.ERROR, service="dynamodb", code="AccessDeniedException", status=400, calls=1
    )

    with pytest.raises(
        SinkAccessDeniedError, match=r"^DynamoDB's BatchWriteItem was refused: AccessDeniedExc"
    ):
        sink.write(rows, part(0, 0, versions=[_VERSION]))
    with pytest.raises(SinkUnavailableError, match="was refused: ResourceNotFoundException"):
        _write(DynamoDbTable("nowhere", sink.errors), rows)

    assert _write(sink, rows) == {}
    assert len(tables[0].scan()["Items"]) == 1
    assert "AWS_ENDPOINT_URL" not in os.environ


@pytest.mark.parametrize(("limit", "tasks"), [(1_000, 2), (None, 50)])
def test_as_many_tasks_share_a_rate_as_can_run_at_once(spark, monkeypatch, limit, tasks):
    """More might run as soon as executors are added, each at its share of the rate."""
    seen = []

    def count(rows, task):
        seen.append((rows.rdd.getNumPartitions(), task.tasks))
        return []

    monkeypatch.setattr(records, "run_task", count)
    rows = make_decoded(spark, _VERSION, _READINGS)

    sink = DynamoDbTable("readings", Mock(), rows_per_second=limit)
    sink.write(rows.repartition(50), part(0, 0, versions=[_VERSION]))

    assert seen == [(tasks, tasks)]
