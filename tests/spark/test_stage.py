"""Topics become tables as a plan says, on a real broker: one read, and nothing lost."""

from __future__ import annotations

import json
import secrets
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import boto3
import pytest

from penstock.extensions.staging import StagedTable, StagingPlan, StagingSink
from penstock.extensions.staging.spark import StageSettings, start_staging
from penstock.extensions.staging.spark.settings import match_topics
from penstock.framing import encode_glue_frame
from penstock.kafka import Message, Security, open_producer
from penstock.records import (
    DeletedWhen,
    Mode,
    Projection,
    RowShape,
    Tombstone,
)
from penstock.registry import CachedRegistry, Registries, RegistrySettings
from penstock.registry.memory import MemoryRegistry
from penstock.schemas import Compatibility
from penstock.sinks import DeadLetterSettings
from penstock.spark.query.source import open_stream
from penstock.spark.query.stream import StreamQuery
from penstock.spark.settings.consume import ReadSettings, StartingOffsets
from penstock.spark.settings.lease import LeaseSettings
from penstock.spark.sinks.base import Sink
from penstock.spark.sinks.table import Route, Table
from penstock.spark.state.schema_ledger import Ledger
from penstock.tables import BatchId
from systems.clusters import PRODUCER, logged_in
from systems.tables import make_table
from tests.spark.batches import open_batches
from tests.spark.consuming import SECONDS, USER, persisted
from tests.spark.lakes import LakeReader
from tests.spark.records import frame, make_record, make_topic
from tests.spark.sinks import FileErrors, FileSink
from tests.stubs.registries import UNKNOWN

_ORDER = make_record(("ORDER_ID", "string"), ("STATE", ["null", "string"]), name="Order")
_NOTED = make_record(
    ("ORDER_ID", "string"), ("STATE", ["null", "string"]), ("NOTE", ["null", "string"]),
    ("INTERNAL", ["null", "long"]), name="Order",
)  # fmt: skip
_CUSTOMER = make_record(("id", "string"), ("name", ["null", "string"]), name="Customer")


def row_shape(key, **more):
    given = {"sort_name": None, "event_time": None, "mode": Mode.UPSERT}
    return RowShape((key,), **(given | more))


@dataclass(frozen=True)
class TopicErrors:
    """The reasons of records that were given up, in files by topic and offset."""

    folder: Path

    def keep(self, records):
        for each in records:
            source = each.record.source
            (self.folder / f"{source.topic}@{source.offset}").write_text(each.failure.reason)

    def reasons(self):
        return {path.name: path.read_text() for path in self.folder.iterdir()}


class Stage:
    """Topics, their tables in DynamoDB and in the lake, and the job that is started at will."""

    def __init__(self, spark, kafka, account, database, folders):
        secret_arn, errors_table = account
        self.lake_folder, folder = folders
        self.spark, self.kafka, self.database = spark, kafka, database
        self.registry = MemoryRegistry(compatibility=Compatibility.NONE)
        (folder / "errors").mkdir()
        self.errors = TopicErrors(folder / "errors")
        self.name = f"s{secrets.token_hex(4)}"
        self.settings = StageSettings(
            kafka=kafka.settings(Security.SCRAM, secret_arn=secret_arn),
            read=ReadSettings(topic_pattern="none", max_offsets_per_trigger=10_000),
            lease=LeaseSettings(lease_seconds=4, heartbeat_seconds=0.5),
            schemas=RegistrySettings("memory://"),
            plan="unused",
            dead_letters=DeadLetterSettings(errors_table, "parked"),
            checkpoint=f"file://{folder}/checkpoint",
            dynamodb_table=f"{self.name}-{{table}}",
            lake_table=f"{self.name}.{{table}}",
            trigger="available-now",
        )

    def register(self, schema, name):
        return self.registry.register(name, schema).version

    def add_topic(self, partitions=1):
        with logged_in(self.kafka, PRODUCER):
            topic = self.kafka.create_topic(partitions=partitions)
            self.kafka.allow(USER, topic, "READ")
        return topic

    def add_table(self, name, key):
        make_table(self.database, f"{self.name}-{name}", key)

    def send(self, topic, *values, key=b"k"):
        settings = self.kafka.settings(Security.IAM)
        with logged_in(self.kafka, PRODUCER), closing(open_producer(settings)) as producer:
            producer.send_all([Message(topic, value, key) for value in values])

    def start(self, plan, trigger="available-now", **read):
        pattern = {"topic_pattern": match_topics(plan)}
        settings = replace(
            self.settings, trigger=trigger, read=replace(self.settings.read, **(pattern | read))
        )
        registries = Registries([CachedRegistry(self.registry)])
        return start_staging(self.spark, settings, plan, registries=registries, errors=self.errors)

    def rows(self, table, key):
        """The rows of a table by their keys, without what each row has of its own."""
        found = self.database.Table(f"{self.name}-{table}").scan()["Items"]
        return {row[key]: row for row in found}

    def lake(self, table, sql):
        return LakeReader(self.spark, self.lake_folder, f"{self.name}.{table}").query(sql)


@pytest.fixture
def database(cloud, executors_account):
    """DynamoDB in localcloud, whose endpoint the executors know."""
    session = boto3.Session("111111111111", "any", region_name="eu-central-1")
    return session.resource("dynamodb", endpoint_url=cloud.endpoint)


@pytest.fixture
def folders(lake_folder, tmp_path):
    return lake_folder, tmp_path


@pytest.fixture
def stage(spark, kafka, account, database, folders):
    return Stage(spark, kafka, account, database, folders)


def _fields(row):
    return {name: value for name, value in row.items() if name[0] != "_"}


def test_topics_become_tables_and_follow_what_changes(stage, caplog):
    """A new column, a tombstone and junk come while it runs; records come while it is stopped."""
    orders, east, west, junk = (stage.add_topic() for _ in range(4))
    stage.add_table("orders", "order_id")
    stage.add_table("customers", "id")
    stage.add_table("others", "id")
    both = frozenset(StagingSink)
    columns = Projection(("ORDER_ID", "STATE", "NOTE"), (("STATE", "orderState"),), True)
    deleting = row_shape("id", tombstone=Tombstone.DELETE)
    ended = row_shape("order_id", deleted_when=DeletedWhen("orderState", ("gone",)))
    plan = StagingPlan(
        (
            StagedTable("orders", ended, (orders,), columns=columns, sinks=both),
            StagedTable("customers", deleting, (east, west)),
            StagedTable("others", row_shape("id"), ("nowhere",), pattern=f"{junk[:-1]}."),
        )
    )
    v1, customer = stage.register(_ORDER, "order"), stage.register(_CUSTOMER, "customer")
    stage.send(orders, frame(v1, {"ORDER_ID": "o1", "STATE": "new"}))
    stage.send(east, frame(customer, {"id": "c1", "name": "East"}))
    stage.send(west, frame(customer, {"id": "c2", "name": "West"}))
    query = stage.start(plan, trigger="1 second")
    assert "found no topic nowhere: others are read" in caplog.text
    try:
        query.processAllAvailable()
        v2 = stage.register(_NOTED, "order")
        noted = {"ORDER_ID": "o1", "STATE": "paid", "NOTE": "fast", "INTERNAL": 7}
        empty = {"ORDER_ID": "", "STATE": None, "NOTE": "", "INTERNAL": 8}
        gone = {"ORDER_ID": "o3", "STATE": "gone", "NOTE": "lost", "INTERNAL": 9}
        stage.send(orders, *(frame(v2, each) for each in (noted, empty, gone)))
        stage.send(orders, frame(v2, noted)[:-1])
        stage.send(junk, b"?", encode_glue_frame(UNKNOWN, b"x"))
        stage.send(east, None, key=b"c1")
        stage.send(west, None, key=b"\xff")
        query.processAllAvailable()
        progress = query.recentProgress
    finally:
        query.stop()
    v3 = stage.register(_CUSTOMER | {"doc": "third"}, "customer")
    stage.send(orders, frame(v1, {"ORDER_ID": "o2", "STATE": None}))
    stage.send(west, frame(v3, {"id": "c3", "name": None}))
    again = stage.start(plan)
    assert again.awaitTermination(SECONDS)

    found = stage.rows("orders", "order_id")
    deleted = found.pop("o3")
    times = [row.pop("staging_time") for row in found.values()]
    assert (deleted["_deleted"], _fields(deleted)) == (True, {"order_id": "o3"})
    assert {key: _fields(row) for key, row in found.items()} == {
        "o1": {"order_id": "o1", "orderState": "paid", "note": "fast"}, "o2": {"order_id": "o2"},
    }  # fmt: skip
    assert all(time.endswith("+00:00") for time in times)
    assert stage.lake("orders", "SELECT order_id, orderState, note FROM t ORDER BY _offset") == [
        ("o1", "new", None), ("o1", "paid", "fast"), ("o3", "gone", "lost"), ("o2", None, None),
    ]  # fmt: skip
    customers = stage.rows("customers", "id")
    assert {key: row.get("_deleted") for key, row in customers.items()} == {
        "c1": True, "c2": None, "c3": None,
    }  # fmt: skip
    assert (customers["c2"]["name"], "name" in customers["c1"]) == ("West", False)
    assert stage.errors.reasons() == {
        f"{orders}@4": "truncated", f"{junk}@0": "unknown-framing", f"{junk}@1": "unknown-schema",
        f"{west}@1": "unroutable",
    }  # fmt: skip
    assert sum(each["numInputRows"] for each in (*progress, *again.recentProgress)) == 13


def test_a_job_begins_at_the_offsets_it_is_given(stage):
    named, other = stage.add_topic(partitions=2), stage.add_topic()
    stage.add_table("customers", "id")
    plan = StagingPlan((StagedTable("customers", row_shape("id"), (named, other)),))
    customer = stage.register(_CUSTOMER, "customer")
    for number in range(6):
        key = bytes([number])
        stage.send(named, frame(customer, {"id": f"{number}", "name": "n"}), key=key)
    stage.send(other, frame(customer, {"id": "x", "name": "o"}))
    ends = stage.start(plan, starting=StartingOffsets(((named, 0, 1), (named, 1, -1))))
    assert ends.awaitTermination(SECONDS)

    (progress,) = (json.loads(each.json)["sources"][0] for each in ends.recentProgress)
    first = progress["startOffset"] or {named: {"0": 1}}
    assert first[named]["0"] == 1
    rows = stage.rows("customers", "id")
    places = {row["_source"] for row in rows.values()}
    assert f"{other}/0/0" in places
    assert not [place for place in places if place.startswith(f"{named}/1/")]
    assert f"{named}/0/0" not in places
    assert len(places) == progress["numInputRows"] > 1


@dataclass(frozen=True)
class Counting(Sink):
    """A sink that counts rows by topic."""

    counts: dict

    def write(self, rows, part):
        for row in rows.groupBy("_topic").count().collect():
            self.counts[row["_topic"]] = self.counts.get(row["_topic"], 0) + row["count"]
        return {}


def test_a_batch_of_many_tables_is_read_from_kafka_once(stage, tmp_path, trials):
    """However many sinks each has; tables without records are not written."""
    topics = [stage.add_topic() for _ in range(trials(12, 50))]
    customer = stage.register(_CUSTOMER, "customer")
    for topic in topics[:3]:
        stage.send(topic, *(frame(customer, {"id": f"{at}", "name": None}) for at in range(3)))
    counts = [{}, {}]
    sinks = [Counting(each) for each in counts]
    read = replace(stage.settings.read, topic_pattern="|".join(topics))
    kept = persisted(stage.spark)
    query = StreamQuery(
        stream=open_stream(stage.spark, stage.settings.kafka, read, may_stop=False),
        checkpoint=str(tmp_path / "many"),
        registries=Registries([CachedRegistry(stage.registry)]),
        tables=[Table(tuple(sinks), Route(topics=(topic,)), topic) for topic in topics],
        errors=stage.errors,
        bounded=True,
    ).start(availableNow=True)
    assert query.awaitTermination(SECONDS)

    assert [each["numInputRows"] for each in query.recentProgress if each["numInputRows"]] == [9]
    assert counts == [dict.fromkeys(topics[:3], 3)] * 2
    assert persisted(stage.spark) <= kept


def test_two_fields_of_one_column_are_refused_by_name(spark, tmp_path):
    registry = MemoryRegistry(compatibility=Compatibility.NONE)
    clash = make_record(("id", "string"), ("Name", "string"), ("NAME", "string"))
    staged = make_record(("id", "string"), ("Staging_Time", "string"))
    good = make_record(("id", "string"), ("NAME", "string"))
    versions = [registry.register("s", each).version for each in (good, clash, staged)]
    values = [
        {"id": "a", "NAME": "n"}, {"id": "a", "Name": "n", "NAME": "m"},
        {"id": "a", "Staging_Time": "noon"},
    ]  # fmt: skip
    for name in ("rows", "errors", "ledger"):
        (tmp_path / name).mkdir()
    sink, errors = FileSink(tmp_path / "rows"), FileErrors(tmp_path / "errors")
    ledger = Ledger(spark, str(tmp_path / "ledger"))
    columns = Projection(lower_case=True, constant="staging_time")
    batches = open_batches(Registries([registry]), ledger, [sink], errors, columns)
    batches.write_batch(
        make_topic(spark, [frame(*each) for each in zip(versions, values, strict=True)]),
        BatchId("q", 0),
    )

    (row,) = sink.rows(spark).values()
    assert row.keys() == {"id", "name", "staging_time"}
    assert {at: each["reason"] for at, each in errors.read().items()} == {
        1: "schema-conflict", 2: "schema-conflict",
    }  # fmt: skip
    details = {at: each["detail"] for at, each in errors.read().items()}
    assert "fields Name and NAME would both be the column name" in details[1]
    assert "the field Staging_Time would be the column staging_time" in details[2]
