"""Records that were given up are tried again: each once in its tables, whenever a replay dies."""

from __future__ import annotations

import json
import secrets
from dataclasses import replace

import boto3
import pytest

from penstock.errors import Failure, Reason
from penstock.framing import FrameKind, SchemaKey, encode_glue_frame
from penstock.records import (
    READING,
    FailedRecord,
    KeyFormat,
    Mode,
    Record,
    RowShape,
    Source,
    Tombstone,
)
from penstock.registry import Registries, RegistrySettings
from penstock.sinks import (
    DynamoDbClient,
    ErrorTable,
    ObjectStore,
    SelectionSettings,
)  # fmt: skip
from penstock.spark import ReplaySettings, run_replay
from penstock.spark.query.table_batches import TableBatches
from penstock.spark.settings.lease import LeaseSettings
from penstock.spark.sinks.dynamodb import DynamoDbTable
from penstock.spark.sinks.iceberg import Lake
from penstock.spark.state.lease import LEASE_PREFIX
from penstock.spark.state.schema_ledger import Ledger, Lookup
from systems.error_tables import make_error_table
from systems.films import create_item_table
from tests.fixtures.readings import make_reading_table
from tests.spark.lakes import NOON_MS, make_rows, part
from tests.spark.records import frame, make_record
from tests.spark.sinks import sink_settings
from tests.stubs.registries import UNKNOWN, CountedRegistry

_ACCOUNT, _REGION = "111111111111", "eu-central-1"
_EVENT = make_record(("deviceId", "string"), ("timestamp", "long"), ("value", ["null", "long"]))
_GROWN = make_record(("deviceId", "string"), ("timestamp", "long"), ("value", ["null", "double"]))


class DeadError(Exception):
    """What a driver that is killed meets."""


class World:
    """The tables and buckets of an account, and replays of what its consumers gave up."""

    def __init__(self, spark, reader, cloud, folder):
        self.spark, self.reader, self.folder = spark, reader, folder
        session = boto3.Session(_ACCOUNT, "any", region_name=_REGION)
        name = f"replay-{secrets.token_hex(4)}"
        self.s3 = session.client("s3", endpoint_url=cloud.endpoint)
        self.s3.create_bucket(
            Bucket=name, CreateBucketConfiguration={"LocationConstraint": _REGION}
        )
        database = session.resource("dynamodb", endpoint_url=cloud.endpoint)
        self.readings = make_reading_table(database, f"{name}-r")
        self.errors = make_error_table(database, f"{name}-e")
        self.items = create_item_table(database, f"{name}-i")
        self.registry = CountedRegistry()
        self.bucket = name
        self.transform = ""

    def settings(self, shape=READING, **selection):
        table = self.readings if shape is READING else self.items
        sinks = sink_settings(
            self.errors.name,
            self.bucket,
            dynamodb_table=table.name,
            lake_table=self.reader.name.removeprefix("lake."),
            parquet_path=f"file://{self.folder}/plain",
            shape=shape,
        )
        return ReplaySettings(
            sinks=replace(sinks, transform=self.transform),
            lease=LeaseSettings(),
            selection=SelectionSettings(**selection),
            schemas=RegistrySettings("memory://"),
            consume_checkpoint=f"file://{self.folder}/consume",
        )  # fmt: skip

    def give_up(
        self, values, stage="spark", reason=Reason.UNKNOWN_SCHEMA, timestamp_ms=NOON_MS, key=b"k"
    ):
        """Keep records as consumers keep them."""
        table = ErrorTable(DynamoDbClient(), self.errors.name, ObjectStore(self.bucket))
        failed = [
            FailedRecord(
                Record(Source("t", 0, at), key, value, (("h", b"x"),), timestamp_ms),
                Failure(reason, ""),
                None,
                stage,
                5,
            )
            for at, value in values.items()
        ]
        table.keep(failed)

    def consume(self, *versions):
        """Have versions known to the job that consumes."""
        ledger = Ledger(self.spark, f"file://{self.folder}/consume/penstock-ledger")
        ledger.add(Lookup(0, 1, versions))

    def read_up_to(self, offset):
        """Let the job that consumes have read so far, as Spark keeps it."""
        offsets = json.dumps({"t": {"0": offset}})
        for name, text in (("offsets/0", f"v1\n{{}}\n{offsets}"), ("commits/0", "v1\n{}")):
            path = self.folder / "consume" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def replay(self, shape=READING, **selection):
        """Replay with nothing but what is stored."""
        settings = self.settings(shape, **selection)
        return run_replay(self.spark, settings, Registries([self.registry]), secrets.token_hex(4))

    def rows(self):
        """What each offset has in the lake, in the files and in DynamoDB: the device, once each."""
        sql = "SELECT _offset, deviceId FROM t WHERE epoch_ms(_kafka_timestamp) = {} ORDER BY 1"
        files = self.spark.read.option("recursiveFileLookup", "true")
        plain = files.parquet(f"file://{self.folder}/plain").select("_offset", "deviceId")
        return (
            self.reader.query(sql.format(NOON_MS)),
            sorted(map(tuple, plain.collect())),
            sorted((int(row["readingId"].rpartition("-")[2]), row["deviceId"])
                   for row in self.readings.scan()["Items"]),
        )  # fmt: skip

    def marks(self):
        """How often each offset failed, and what it is now."""
        return {
            int(row["id"].split("/")[2]): (
                int(row["attempts"]), [mark for mark in ("doneAt", "parkedAt") if mark in row]
            )
            for row in self.errors.scan()["Items"]
            if not row["id"].startswith(LEASE_PREFIX)
        }  # fmt: skip

    def parked(self):
        """The records on S3, by offset."""
        keys = self.list("records/")
        bodies = [self.s3.get_object(Bucket=self.bucket, Key=key) for key in keys]
        records = [json.loads(body["Body"].read()) for body in bodies]
        return {record["kafka_offset"]: record for record in records}

    def list(self, prefix=""):
        """The names of what is on S3."""
        found = self.s3.list_objects_v2(Bucket=self.bucket, Prefix=prefix)
        return [each["Key"] for each in found.get("Contents", [])]

    def close(self):
        for key in self.list():
            self.s3.delete_object(Bucket=self.bucket, Key=key)
        self.s3.delete_bucket(Bucket=self.bucket)
        for table in (self.readings, self.errors, self.items):
            table.delete()


@pytest.fixture
def world(spark, reader, cloud, jobs_account, tmp_path):
    world = World(spark, reader, cloud, tmp_path)
    yield world
    world.close()


def _frame(version, device):
    return frame(version, {"deviceId": device, "timestamp": NOON_MS, "value": 7})


def test_records_are_written_once_marked_and_after_three_failures_parked(world):
    """Row 29 of the fault table, whole: some can be read now, others never."""
    version = world.registry.register("sensor", _EVENT).version
    world.consume(version, world.registry.register("sensor", _GROWN).version)
    world.give_up({0: _frame(version, "a"), 1: encode_glue_frame(UNKNOWN, b"x")})
    big = {"deviceId": "c", "timestamp": NOON_MS, "value": 2**53 + 1}
    world.give_up({3: frame(version, big)}, reason=Reason.LOSSY_WIDENING)
    world.give_up({2: _frame(version, "b")}, "lambda", Reason.FORBIDDEN_SCHEMA)

    world.give_up({4: None}, "lambda", Reason.UNROUTABLE)  # a tombstone

    world.read_up_to(0)
    early = world.replay()
    world.read_up_to(5)
    first = world.replay()
    second = world.replay(attempts=0)
    third = world.replay()
    assert world.marks()[1] == (2, [])
    last = world.replay()
    over = world.replay()

    assert world.rows() == ([(0, "a"), (2, "b")],) * 3
    # What the job may still bring to the lake itself is not written there before.
    assert (early.selected, early.waiting, first.waiting) == (0, 5, 0)
    done, parked = (0, ["doneAt"]), (3, ["parkedAt"])
    assert world.marks() == {0: done, 1: parked, 2: done, 3: parked, 4: parked}
    assert (first.selected, first.done, first.failed, first.parked) == (5, 2, 3, 0)
    assert (second.selected, third.failed, over.selected) == (0, 3, 0)
    reasons = {1: "unknown-schema", 3: "lossy-widening", 4: "unroutable"}
    assert (last.failed, last.parked) == (3, 3)
    assert dict(last.errors) == dict.fromkeys(reasons.values(), 1)
    records = world.parked()
    assert {at: records[at]["reason"] for at in records} == reasons
    assert {records[at]["attempts"] for at in records} == {3}
    (notice,) = world.list("notices/")
    assert notice.startswith("notices/3-records-of-")


def test_a_readable_record_among_a_flood_of_unknown_ids_is_written(world):
    """The batch of a query looks up a hundred of them, the most frequent first."""
    version = world.registry.register("sensor", _EVENT).version
    junk = [encode_glue_frame(SchemaKey(FrameKind.GLUE, bytes(14) + bytes([1, at])), b"x")
            for at in range(101)]  # fmt: skip
    world.give_up(dict(enumerate([*junk, *junk, _frame(version, "a")])))
    world.read_up_to(len(junk) * 2 + 1)

    counts = world.replay()

    assert (counts.done, counts.failed) == (1, 202)
    assert world.rows()[0] == [(202, "a")]


def test_a_replay_has_the_transform_of_the_job(world, tmp_path):
    world.transform = str(tmp_path / "only_a.py")
    (tmp_path / "only_a.py").write_text(
        "def transform(rows):\n    return rows.filter(\"event.deviceId = 'a'\")\n"
    )
    version = world.registry.register("sensor", _EVENT).version
    world.consume(version)
    world.give_up({0: _frame(version, "a"), 1: _frame(version, "b")})
    world.read_up_to(2)

    assert world.replay().done == 2
    assert world.rows() == ([(0, "a")],) * 3


def test_a_record_whose_timestamp_is_beyond_spark_is_written(world):
    """A function gave it up, which has no such limit."""
    version = world.registry.register("sensor", _EVENT).version
    world.consume(version)
    world.read_up_to(1)
    world.give_up({0: _frame(version, "a")}, "lambda", timestamp_ms=2**63 - 1)

    assert world.replay().done == 1
    assert world.reader.query("SELECT deviceId FROM t") == [("a",)]


def test_a_record_that_function_and_job_gave_up_is_written_once(world):
    version = world.registry.register("sensor", _EVENT).version
    world.consume(version)
    for stage in ("lambda", "spark"):
        world.give_up({0: _frame(version, "a"), 1: encode_glue_frame(UNKNOWN, b"x")}, stage)
    world.read_up_to(2)

    counts = world.replay()

    assert world.rows() == ([(0, "a")],) * 3
    assert (counts.selected, counts.done, counts.failed) == (4, 2, 2)
    rows = {row["id"]: row for row in world.errors.scan()["Items"]}
    marked = {
        stage: ("doneAt" in rows[f"t/0/0/{NOON_MS}{stage}"],
                rows[f"t/0/1/{NOON_MS}{stage}"]["attempts"])
        for stage in ("", "/spark")
    }  # fmt: skip
    assert marked == {"": (True, 1), "/spark": (True, 1)}


def test_a_record_that_the_lake_alone_cannot_hold_is_parked_after_three_failures(world):
    """Another query made the column a double, so no version of this one stops the record before."""
    wide = make_rows(world.spark, "deviceId string, value double", ("w", 0.5), first=9)
    world.reader.lake.write(wide, part(0, 0, query="other"))
    version = world.registry.register("sensor", _EVENT).version
    world.consume(version)
    world.read_up_to(2)
    big = {"deviceId": "b", "timestamp": NOON_MS, "value": 2**53 + 1}
    world.give_up({0: _frame(version, "a"), 1: frame(version, big)})

    counts = [world.replay() for _ in range(3)]

    assert world.marks() == {0: (0, ["doneAt"]), 1: (3, ["parkedAt"])}
    assert [(each.done, each.failed, each.parked) for each in counts] == [
        (1, 1, 0), (0, 1, 0), (0, 1, 1),
    ]  # fmt: skip
    assert world.parked()[1]["reason"] == "lossy-widening"
    assert world.reader.query("SELECT _offset, value FROM t ORDER BY 1") == [(0, 7.0), (9, 0.5)]


def test_a_tombstone_whose_key_can_be_read_now_deletes_its_row_and_is_done(world):
    shape = RowShape(
        ("id",), sort_name=None, event_time=None, mode=Mode.UPSERT, key_format=KeyFormat.INT,
        tombstone=Tombstone.DELETE,
    )  # fmt: skip
    world.read_up_to(2)
    world.give_up({0: None}, key=(7).to_bytes(4))
    world.give_up({1: None}, reason=Reason.UNROUTABLE)  # its key is no number

    counts = world.replay(shape)

    assert world.marks() == {0: (0, ["doneAt"]), 1: (1, [])}
    assert (counts.done, dict(counts.errors)) == (1, {"unroutable": 1})
    assert [(row["id"], row["_deleted"]) for row in world.items.scan()["Items"]] == [("7", True)]


def _die(*_, **__):
    raise DeadError


def test_a_replay_that_died_anywhere_is_begun_again(world, monkeypatch, fault):
    deaths = fault("replay-killed")
    version = world.registry.register("sensor", _EVENT).version
    grown = world.registry.register("sensor", _GROWN).version
    values = {"deviceId": "c", "timestamp": NOON_MS, "value": 0.5}
    world.read_up_to(4)
    world.give_up({0: _frame(version, "a"), 1: b"?", 2: _frame(version, "b")})
    world.give_up({3: frame(grown, values)}, "lambda")

    for place, method, selected, told in (
        (TableBatches, "write_batch", None, 0),  # before anything
        (Lake, "add", None, 1),  # a failure was told, and nothing written
        (DynamoDbTable, "write", None, 2),  # the lake and the files have all, DynamoDB nothing
        (ErrorTable, "mark_all_done", 0, 2),  # all is written, and nothing marked
    ):
        with monkeypatch.context() as patch:
            patch.setattr(place, method, _die)
            with pytest.raises(DeadError):
                world.replay(attempts=selected)
        deaths.count_seen(1)
        assert world.marks()[1] == (told, [])
    with deaths.recovery():
        counts = world.replay()

    for rows in world.rows():
        deaths.check(rows, {0: "a", 2: "b", 3: "c"})
    done = (0, ["doneAt"])
    assert world.marks() == {0: done, 1: (3, ["parkedAt"]), 2: done, 3: done}
    assert (counts.done, counts.failed, counts.parked) == (3, 1, 1)
