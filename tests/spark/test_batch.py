"""A batch is written once, whole, with every record in its place, however often it comes again."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from threading import Event
from typing import Any

import pytest

from penstock.errors import LostRecordsError, Reason, RegistryUnavailableError
from penstock.framing import FrameKind, SchemaKey, encode_glue_frame
from penstock.spark.failures import count_by_reason
from penstock.spark.query import parts
from penstock.spark.sinks.base import Sink
from penstock.spark.state.schema_ledger import Ledger
from penstock.tables import BatchId
from tests.spark.batches import Job
from tests.spark.records import KAFKA, frame, make_record, make_topic
from tests.spark.sinks import FileSink
from tests.stubs.registries import UNKNOWN, CountedRegistry, unavailable

_SECONDS = 120  # for a pass on a machine with much else to do
_V1 = make_record(("deviceId", "string"))
_V2 = make_record(("deviceId", "string"), ("temperature", ["null", "long"]))
_VALUES = ("long", ["long", "string"])
_REFUSED = {Reason.SCHEMA_CONFLICT: 1}
_V3 = make_record(("deviceId", "string"), ("temperature", ["null", "double"]))


@pytest.fixture
def job(spark, tmp_path):
    return Job(spark, tmp_path)


def test_a_running_query_takes_new_versions(job):
    v1 = job.register(_V1)
    first = job.take([frame(v1, {"deviceId": "a"})])
    v2 = job.register(_V2)
    second = job.take(
        [frame(v1, {"deviceId": "b"}), frame(v2, {"deviceId": "c", "temperature": 7}), None], 1
    )
    calls = list(job.registry.calls)
    third = job.take([frame(v2, {"deviceId": "d", "temperature": None})], 2)

    assert (first.rows, first.schemas, first.new_schemas) == (1, 1, 1)
    assert (second.records, second.rows, second.schemas, second.new_schemas) == (3, 2, 2, 1)
    assert (third.rows, third.new_schemas, third.errors) == (1, 0, {})
    assert job.registry.calls == calls
    assert job.sink.parts == [(0, 1), (1, 0), (1, 1), (2, 0)]
    assert job.rows() == {
        0: {"deviceId": "a"},
        100: {"deviceId": "b"},
        101: {"deviceId": "c", "temperature": 7},
        200: {"deviceId": "d", "temperature": None},
    }


def test_a_field_that_becomes_a_union_is_given_up_and_the_table_goes_on(job, reader):
    """Its column has one type; the other way round, a value is a member."""
    plain, union = (make_record(("deviceId", "string"), ("value", type_)) for type_ in _VALUES)
    job.restart([reader.lake])
    v1, v2 = job.register(plain), job.register(union)
    values = [frame(v1, {"deviceId": "a", "value": 1}), frame(v2, {"deviceId": "b", "value": "x"})]

    first = job.take([values[0]])
    second = job.take([values[1], values[0]], 1)
    job.restart([reader.lake])
    third = job.take(values, 2)

    assert [each.rows for each in (first, second, third)] == [1, 1, 1]
    assert [each.errors for each in (first, second, third)] == [{}, _REFUSED, _REFUSED]
    details = [each["detail"] for each in job.errors.read().values()]
    assert all("value: the column is bigint and the records have struct" in it for it in details)
    assert reader.query("SELECT value FROM t") == [(1,)] * 3


def test_without_rows_nothing_is_written_until_there_are_some(job, monkeypatch):
    """Behind a part that says so, twice a day; who has rows pays with no job of Spark for it."""
    value = frame(job.register(_V1), {"deviceId": "a"})
    context = job.spark.sparkContext

    def take(number, value):
        group = f"{job.folder.name} {number}"
        context.setJobGroup(group, "a batch")
        try:
            job.take([value], number)
        finally:
            context.setLocalProperty("spark.jobGroup.id", None)
        return len(context.statusTracker().getJobIdsForGroup(group))

    take(0, value)
    busy = take(1, value)
    with monkeypatch.context() as patch:
        patch.setattr(parts, "MARKED_SECONDS", 0)
        take(2, None)
    for number, each in enumerate((None, None, None, value), 3):
        take(number, each)

    assert take(7, value) == busy
    assert job.sink.parts == [(0, 1), (1, 0), (2, 0), (3, 0), (6, 0), (7, 0)]
    assert set(job.rows()) == {0, 100, 600, 700}


def test_every_bad_record_is_filed_with_its_reason_and_its_bytes(job):
    v2 = job.register(_V2)
    good = frame(v2, {"deviceId": "a", "temperature": 7})
    values = {
        "unknown-framing": b"{}",
        "no-registry-for-framing": b"\0\0\0\0\1x",
        "truncated": good[:-1],
        "undecodable": good[:18] + b"\1",
        "trailing-bytes": good + b"\0",
        "invalid-text": good.replace(b"\2a", b"\2\xff"),
        "unknown-schema": encode_glue_frame(UNKNOWN, b"x"),
    }

    counts = job.take([value for bad in values.values() for value in (bad, good)])

    assert job.errors.reasons() == {2 * at: reason for at, reason in enumerate(values)}
    assert counts.errors == dict.fromkeys(values, 1)
    assert counts.rows == len(values)
    assert len(job.rows()) == len(values)
    kept = json.loads((job.errors.folder / "4").read_text())
    assert kept == {
        "reason": "truncated", "schema": str(v2.key), "key": b"k".hex(), "value": good[:-1].hex(),
        "headers": [],
        "detail": "temperature: the payload ends inside this value",
    }  # fmt: skip


def test_a_contradiction_and_a_lossy_number_are_errors_of_their_records(job):
    v1, v2 = job.register(_V1), job.register(_V2)
    foreign = job.registry.register("other", make_record(("deviceId", "long"))).version
    big = frame(v2, {"deviceId": "big", "temperature": 2**53 + 1})
    job.take([frame(v1, {"deviceId": "a"}), big])
    v3 = job.register(_V3)

    counts = job.take(
        [
            frame(foreign, {"deviceId": 1}),
            frame(v3, {"deviceId": "b", "temperature": 0.5}),
            big,
            frame(v2, {"deviceId": "c", "temperature": 3}),
        ],
        1,
    )
    later = job.take([big], 2)

    assert job.errors.reasons() == {100: "schema-conflict", 200: "lossy-widening"}
    assert (counts.rows, later.rows, later.errors) == (3, 0, {"lossy-widening": 1})
    assert job.rows()[102] == {"deviceId": "big", "temperature": 2**53 + 1}


def test_a_registry_that_is_down_gives_up_no_record(job):
    v1 = job.register(_V1)
    job.registry.down = unavailable

    with pytest.raises(RegistryUnavailableError):
        job.take([b"{}", frame(v1, {"deviceId": "a"})])
    assert job.rows() == {}

    job.registry.down = None
    job.take([b"{}", frame(v1, {"deviceId": "a"})])
    assert job.rows() == {1: {"deviceId": "a"}}
    job.registry.down = unavailable
    job.restart()
    job.take([frame(v1, {"deviceId": "b"})], 1)
    assert job.rows()[100] == {"deviceId": "b"}


@pytest.mark.parametrize("death", ["after 0", "before 1", "after 1"])
def test_a_batch_that_died_comes_again_and_is_split_as_before(job, death):
    v1 = job.register(_V1)
    job.take([frame(v1, {"deviceId": "a"})])
    v2 = job.register(_V2)
    secret = CountedRegistry().register("sensor", _V3).version
    values = [
        frame(v1, {"deviceId": "b"}), frame(v2, {"deviceId": "c", "temperature": 7}),
        frame(v2, {"deviceId": "d", "temperature": 8}, compress=True),
        frame(secret, {"deviceId": "e", "temperature": 0.5}), b"{}",
    ]  # fmt: skip
    job.sink.fails = lambda place: place == death
    with pytest.raises(OSError, match=f"dead {death}"):
        job.take(values, 1)
    is_known = bool(Ledger(job.spark, str(job.folder / "schemas")).lookups(1))
    job.sink.fails = lambda _: False
    job.registry.get = lambda key, get=job.registry.get: secret if key == secret.key else get(key)

    job.restart()
    counts = job.take(values, 1)

    # What the registry learnt in between counts only where the batch had not asked before.
    assert set(job.rows()) == {0, 100, 101, 102} | (set() if is_known else {103})
    assert set(job.errors.reasons()) == {104} | ({103} if is_known else set())
    assert counts.records == 5
    assert counts.rows + sum(counts.errors.values()) == 5
    job.take(values[3:4], 2)
    assert 200 in job.rows()


def test_more_ids_than_are_asked_for_at_once(job, monkeypatch):
    monkeypatch.setattr("penstock.spark.query.batch.IDS_AT_ONCE", 2)
    versions = [job.register(schema) for schema in (_V1, _V2, _V3)]
    values = [
        frame(versions[0], {"deviceId": "a"}),
        frame(versions[1], {"deviceId": "b", "temperature": 1}),
    ]
    values += [frame(versions[2], {"deviceId": "c", "temperature": 1.5})]
    values += [encode_glue_frame(UNKNOWN, b""), encode_glue_frame(UNKNOWN, b"x")]

    counts = job.take(values)

    assert set(job.rows()) == {0, 1, 2}
    assert job.errors.reasons() == {3: "unknown-schema", 4: "unknown-schema"}
    assert (counts.schemas, counts.rows, counts.errors) == (3, 3, {"unknown-schema": 2})


def test_a_flood_of_unknown_ids_costs_bounded_calls_and_other_records_flow(job):
    v1 = job.register(_V1)
    job.take([frame(v1, {"deviceId": "a"})])
    v2 = job.register(_V2)
    calls = len(job.registry.calls)
    keys = [SchemaKey(FrameKind.GLUE, number.to_bytes(16)) for number in range(1, 251)]
    values = [encode_glue_frame(key, b"x") for key in keys]
    values += [
        encode_glue_frame(keys[0], b"y"),
        *[frame(v2, {"deviceId": "b", "temperature": 1})] * 2,
    ]

    counts = job.take(values, 10)

    assert len(job.registry.calls) - calls == 101  # the frequent ones first: that of v2 is one
    assert (counts.rows, counts.errors) == (2, {"unknown-schema": 251})
    assert set(job.rows()) == {0, 1251, 1252}
    details = Counter("was not looked up" in each["detail"] for each in job.errors.read().values())
    assert details == {True: 150, False: 101}
    assert "found more than 100 unknown schema ids in one batch" in str(job.errors.read())

    before = job.errors.read()
    job.restart()
    again = job.take(values, 10)
    assert (again.errors, job.errors.read()) == (counts.errors, before)
    assert len(job.registry.calls) - calls == 101


class ForgetfulTopic:
    """Records in a file each; like Kafka, it says nothing of those that are deleted."""

    def __init__(self, spark, folder):
        self.spark, self.folder = spark, folder

    def add(self, *values):
        for at, value in enumerate(values):
            make_topic(self.spark, [value], first=at).coalesce(1).write.parquet(
                str(self.folder / f"{at}")
            )

    def delete(self, offset):
        shutil.rmtree(self.folder / f"{offset}")

    def read(self):
        read = self.spark.read.schema(KAFKA).option("ignoreMissingFiles", "true")
        return read.parquet(*(str(each) for each in sorted(self.folder.iterdir())))


@dataclass
class Then(Sink):
    """A sink, and what happens before and after its first write."""

    sink: Any
    before: Callable[[], None] = lambda: None
    after: Callable[[], None] = lambda: None

    def write(self, rows, part):
        self.before()
        refused = self.sink.write(rows, part)
        self.after()
        self.before = self.after = lambda: None
        return refused


class RddSink(Sink):
    """A sink that reads as that of DynamoDB does."""

    def __init__(self):
        self.rows = 0

    def write(self, rows, part):
        given_up = count_by_reason(rows, lambda each: iter([Counter(tests=len(list(each)))]))
        self.rows += given_up["tests"]
        return {}


@pytest.fixture
def topic(spark, tmp_path):
    (tmp_path / "topic").mkdir()
    return ForgetfulTopic(spark, tmp_path / "topic")


@pytest.mark.parametrize("kind", [FileSink, RddSink])
def test_records_deleted_between_two_sinks_stop_the_batch(job, topic, monkeypatch, kind):
    monkeypatch.setattr("penstock.spark.decoding.keeper._MOST", 1)
    v1 = job.register(_V1)
    topic.add(*(frame(v1, {"deviceId": name}) for name in "abc"))
    (job.folder / "second").mkdir()
    second = RddSink() if kind is RddSink else FileSink(job.folder / "second")
    first_is_over = Event()

    def delete():
        first_is_over.wait(_SECONDS)
        topic.delete(1)

    job.restart([Then(job.sink, after=first_is_over.set), Then(second, before=delete)])

    with pytest.raises(LostRecordsError, match=(
        r"^batch 0 had 3 records in its first pass and 2 in later ones, expected the same: Kafka "
        r"deleted records meanwhile, which some sinks have and others do not; start again to "
    )):  # fmt: skip
        job.batches.write_batch(topic.read(), BatchId("query", 0))

    assert set(job.rows()) == {0, 1, 2}
    job.restart([job.sink, second])
    assert job.batches.write_batch(topic.read(), BatchId("query", 0)).records == 2


def _forget(job, topic, kind):
    """Take a batch of a good record and two of a kind, of which one is deleted after one pass."""
    v1 = job.register(_V1)
    job.take([frame(v1, {"deviceId": "a"})])
    v2 = job.register(_V2)
    deleted = {
        "damaged": frame(v1, {"deviceId": "a"})[:-1],
        "new version": frame(v2, {"deviceId": "a", "temperature": None}),
        "unknown version": encode_glue_frame(UNKNOWN, b"x"),
    }
    topic.add(frame(v1, {"deviceId": "a"}), deleted[kind], deleted[kind])
    job.restart([Then(job.sink, after=lambda: topic.delete(1))])
    return job.batches.write_batch(topic.read(), BatchId("query", 1))


_KINDS = pytest.mark.parametrize("kind", ["damaged", "new version", "unknown version"])


@_KINDS
def test_records_that_a_pass_keeps_are_not_read_again(job, topic, kind):
    counts = _forget(job, topic, kind)

    rows = 3 if kind == "new version" else 1
    assert (counts.records, counts.rows, sum(counts.errors.values())) == (3, rows, 3 - rows)
    assert set(job.errors.reasons()) == ({1, 2} if rows == 1 else set())
    assert job.sink.parts == [(0, 1), (1, 0), *([(1, 1)] if rows == 3 else [])]


@_KINDS
@pytest.mark.parametrize("limit", ["_MOST_OF_TASK", "_MOST"])
def test_records_deleted_before_a_later_pass_stop_the_batch(job, topic, monkeypatch, kind, limit):
    """Those that are too many to be kept are read again."""
    monkeypatch.setattr(f"penstock.spark.decoding.keeper.{limit}", 100)

    with pytest.raises(LostRecordsError, match="batch 1 had 3 records in its first pass and 2 in"):
        _forget(job, topic, kind)


def test_few_bad_records_beside_a_new_version_need_no_job_of_their_own(job):
    v1 = job.register(_V1)
    good = frame(v1, {"deviceId": "a"})
    job.take([good])
    v2 = job.register(_V2)
    context = job.spark.sparkContext
    context.setJobGroup(job.folder.name, "a batch")
    try:
        job.take([good, frame(v2, {"deviceId": "b", "temperature": 7}), good[:-1]], 1)
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)

    assert job.sink.parts == [(0, 1), (1, 0), (1, 1)]
    assert job.errors.reasons() == {102: "truncated"}
    assert len(context.statusTracker().getJobIdsForGroup(job.folder.name)) == 2


def test_a_sink_that_reads_an_rdd_needs_no_second_pass_for_counts(job):
    v1 = job.register(_V1)
    job.take([frame(v1, {"deviceId": "a"})])
    sink = RddSink()
    job.restart([sink])
    context = job.spark.sparkContext
    context.setJobGroup(job.folder.name, "a batch")
    try:
        counts = job.take([frame(v1, {"deviceId": "a"}), None], 1)
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)

    assert (sink.rows, counts.rows, counts.records) == (1, 1, 2)
    assert len(context.statusTracker().getJobIdsForGroup(job.folder.name)) == 1
