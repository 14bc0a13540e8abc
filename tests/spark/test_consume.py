"""The job that consumes, on a real broker: one query, whatever comes."""

from __future__ import annotations

import json
import shutil
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from urllib.parse import urlsplit

import pytest
from pyspark.errors import StreamingQueryException

from localcloud.testing import wait_until
from penstock.errors import (
    CheckpointError,
    CheckpointInUseError,
    FramingError,
    RegistryUnavailableError,
    SinkUnavailableError,
)
from penstock.extensions.parquet.spark.sink import ParquetFiles
from penstock.framing import FrameKind, decode_frame, encode_glue_frame
from penstock.spark.query.source import FETCH_OPTIONS
from penstock.spark.query.stream import KafkaWatch
from penstock.spark.settings.consume import LostOffsets
from penstock.spark.sinks.iceberg import Lake
from penstock.spark.state.lease import Lease
from tests.spark.consuming import DEVICE, SECONDS, TIME, make_reading, persisted
from tests.spark.records import make_record
from tests.spark.sinks import with_sinks
from tests.stubs.registries import UNKNOWN

_V1 = make_record(DEVICE, TIME)
_V2 = make_record(DEVICE, ("temperature", ["null", "long"]), TIME)
_V3 = make_record(DEVICE, ("temperature", ["null", "double"]), TIME)
_OTHER = make_record(DEVICE, ("temperature", ["null", "string"]), TIME)


def test_one_query_follows_new_versions(job):
    """Versions 2, 3 and one that contradicts them come while it runs; bad records harm nobody."""
    v1 = job.register(_V1)
    job.send(make_reading(v1, "a"))
    query = job.start(trigger="1 second")
    try:
        query.processAllAvailable()
        v2 = job.register(_V2)
        job.send(make_reading(v2, "b", 20), make_reading(v1, "c"))
        query.processAllAvailable()
        v3, other = job.register(_V3), job.register(_OTHER, name="other")
        unknown = encode_glue_frame(UNKNOWN, b"x")
        broken = make_reading(v2, "x", 5)[:-1]
        job.send(
            make_reading(v3, "d", 20.5), make_reading(other, "e", "hot"), unknown, broken, b"?"
        )
        job.send(make_reading(v2, "f", 2**53))
        query.processAllAvailable()
    finally:
        query.stop()

    assert job.query("deviceId, _offset, _schema_version") == [
        ("a", 0, 1), ("b", 1, 2), ("c", 2, 1), ("d", 3, 3), ("f", 8, 2),
    ]  # fmt: skip
    assert job.query("temperature::VARCHAR") == [
        (None,), ("20.0",), (None,), ("20.5",), ("9007199254740992.0",),
    ]  # fmt: skip
    assert job.errors.reasons() == {
        4: "schema-conflict", 5: "unknown-schema", 6: "truncated", 7: "unknown-framing",
    }  # fmt: skip


def test_a_start_after_an_end_reads_on(job, capsys):
    v1 = job.register(_V1)
    job.send(make_reading(v1, "a"), make_reading(v1, "b"))
    job.run()
    job.run()
    job.send(make_reading(v1, "c"))
    job.run()

    assert job.query("deviceId") == [("a",), ("b",), ("c",)]
    lines = job.lines(capsys, 2)
    assert [(line["batch"], line["Records"], line["Rows"]) for line in lines] == [
        (0, 2, 2), (1, 1, 1),
    ]  # fmt: skip
    assert [line["NewSchemas"] for line in lines] == [1, 0]
    assert [line["offsets"][0]["end"] for line in lines] == [
        {job.topic: {"0": 2}}, {job.topic: {"0": 3}},
    ]  # fmt: skip
    assert [*job.spark.streams._jsqm.listListeners()] == [], "queries that ended are listening"


def test_records_that_come_during_a_batch_wait_behind_it(job, capsys, monkeypatch):
    v1, check, sent = job.register(_V1), KafkaWatch.before, []
    job.send(make_reading(v1, "a"))

    def send_more(watch, records, number):
        if not sent:
            sent.append(job.send(*(make_reading(v1, f"b{at}") for at in range(7))))
        return check(watch, records, number)

    monkeypatch.setattr(KafkaWatch, "before", send_more)
    query = job.start(trigger="1 second")
    try:
        first, second = job.lines(capsys, 2)
    finally:
        query.stop()

    assert [(line["Records"], line["RecordsBehind"]) for line in (first, second)] == [
        (1, 7),
        (7, 0),
    ]


def test_lost_records_are_named_and_stop_the_job(job, capsys):
    v1 = job.register(_V1)
    job.send(*(make_reading(v1, str(at)) for at in range(3)))
    job.run()
    job.send(*(make_reading(v1, str(at)) for at in range(3, 10)))
    job.delete(before=7)

    for _ in range(2):  # not by starting again either
        with pytest.raises(StreamingQueryException, match=(
            rf"batch 1 found 4 records deleted that were not read, expected all that the topics "
            rf"were given: {job.topic}/0 3 to 6; start with --on-lost-offsets go-on"
        )):  # fmt: skip
            job.run()
    job.run(on_lost_offsets=LostOffsets.GO_ON)

    assert [device for (device,) in job.query("deviceId")] == ["0", "1", "2", "7", "8", "9"]
    _, line = job.lines(capsys, 2)
    assert (line["lost"], line["LostRecords"]) == ([f"{job.topic}/0 3 to 6"], 4)
    failed = [json.loads(each) for each in job.said if "BatchesFailed" in each]
    assert [(each["kind"], each["batch"]) for each in failed] == [("LostRecordsError", 1)] * 2


def _delete_during_a_pass(job, monkeypatch, before):
    """Let Kafka delete records after the first one of a batch is read, and before the last ones."""
    for name, value in (("max.poll.records", "1"), ("max.partition.fetch.bytes", "1")):
        monkeypatch.setitem(FETCH_OPTIONS, f"kafka.{name}", value)
    check, jvm = KafkaWatch.before, job.spark._jvm
    pause, mark = jvm.java.util.concurrent.locks.LockSupport, f"tests.{job.topic}"

    def delete():
        wait_until("the first record", lambda: jvm.System.getProperty(mark), SECONDS)
        job.delete(before)
        for thread in jvm.Thread.getAllStackTraces().keySet():
            if thread.getName().startswith("Executor task"):
                pause.unpark(thread)

    def check_and_pause(watch, records, number):
        Thread(target=delete).start()
        return check(watch, records, number).filter(
            f"offset > 0 OR (reflect('java.lang.System', 'setProperty', '{mark}', 'seen') <> '' AND"
            " reflect('java.util.concurrent.locks.LockSupport', 'parkNanos', 100000000000L) <> '')"
        )

    monkeypatch.setattr(KafkaWatch, "before", check_and_pause)


def test_records_that_are_deleted_while_a_batch_is_read_are_named(
    job, monkeypatch, capsys, tmp_path
):
    """The batch is kept, so that no later pass finds that they are gone."""
    v1 = job.register(_V1)
    sinks = with_sinks(job.settings.sinks, parquet_path=str(tmp_path / "parquet"))
    for at in range(6):
        job.send(make_reading(v1, str(at)))  # each in a batch of its own
    _delete_during_a_pass(job, monkeypatch, before=4)
    job.run(sinks=sinks, on_lost_offsets=LostOffsets.GO_ON)

    (line,) = job.lines(capsys, 1)
    read = [offset for (offset,) in job.query("_offset")]
    assert {0, 4, 5} <= {*read} < {*range(6)}  # the second one may have been under way
    lost = [each for each in range(6) if each not in read]
    assert line["lost"] == [f"{job.topic}/0 {lost[0]} to {lost[-1]}"]


def test_one_job_at_a_time(job, monkeypatch):
    """Whoever comes second is refused; who was taken over while it slept stops, and is missed."""
    v1 = job.register(_V1)
    job.send(make_reading(v1, "a"))
    query = job.start(trigger="1 second")

    def take_over():
        with suppress(CheckpointInUseError):  # a heartbeat may be under way
            return job.claim()

    try:
        with pytest.raises(CheckpointInUseError, match="another job holds the lease of file://"):
            job.start()
        query.processAllAvailable()
        monkeypatch.setattr(Lease, "_beat", lambda _: None)
        with wait_until("its silence", take_over, SECONDS):
            job.send(make_reading(v1, "b"))
            with pytest.raises(StreamingQueryException, match="this job has lost the lease of"):
                query.awaitTermination(SECONDS)
    finally:
        query.stop()
    job.run()

    assert job.query("deviceId, _offset") == [("a", 0), ("b", 1)]


def test_a_damaged_checkpoint_is_refused_before_anything_is_read(job):
    commits = Path(urlsplit(job.settings.checkpoint).path) / "commits"
    commits.mkdir(parents=True)
    (commits / "0").write_text('v1\n{"nextBatchWatermarkMs":0}')

    with pytest.raises(CheckpointError, match=r"the file metadata of the .* is missing"):
        job.start()


def test_a_job_without_its_schema_ledger_writes_no_row_twice(job, monkeypatch):
    v1, v2, write = job.register(_V1), job.register(_V2), Lake.write
    job.send(make_reading(v1, "a"))
    job.run()
    job.send(make_reading(v1, "b"), make_reading(v2, "c", 20))

    def end_behind_the_known(lake, rows, part):
        if part.number:
            raise RuntimeError("killed")
        return write(lake, rows, part)

    with monkeypatch.context() as patch:
        patch.setattr(Lake, "write", end_behind_the_known)
        with pytest.raises(StreamingQueryException, match="killed"):
            job.run()
    shutil.rmtree(Path(urlsplit(job.settings.checkpoint).path) / "penstock-ledger")

    with pytest.raises(CheckpointError, match=r"the schema ledger file:.* is missing, expected"):
        job.run()
    assert job.query("deviceId") == [("a",), ("b",)]


def test_a_batch_that_is_half_done_keeps_its_routes(job):
    v1 = job.register(_V1)
    lake = job.settings.sinks.sinks["iceberg"].lake_table
    routed = with_sinks(
        job.settings.sinks, lake_table=f"{lake}_{{table}}", route=(("sensor", "a"),)
    )
    job.send(make_reading(v1, "a"))
    job.run()
    commits = Path(urlsplit(job.settings.checkpoint).path) / "commits"
    for name in ("0", ".0.crc"):  # as if the job had died behind the lake
        (commits / name).unlink()

    with pytest.raises(CheckpointError, match=(
        r"batch 0 of the checkpoint file:.*/checkpoint is half done with the routes \{\}, found "
        r'\{"sensor": "a"\}, expected the same until it is over: start once with those'
    )):  # fmt: skip
        job.start(sinks=routed)
    job.run()
    job.send(make_reading(v1, "b"))
    job.run(sinks=routed)
    job.run(sinks=routed)

    assert job.query("deviceId") == [("a",)]
    rows = job.spark.table(f"lake.{lake}_a").select("deviceId", "_offset").collect()
    assert [tuple(row) for row in rows] == [("b", 1)]


def test_headers_decide_as_in_the_lambda_and_are_kept(job):
    v1 = job.register(_V1)
    guid = ("__value_schema_id", b"\1" + bytes(16))
    value = make_reading(v1, "a")
    assert str(_judge(value, (guid,))) == "no-registry-for-framing"

    job.send(value, headers=(guid, ("trace", b"1")))
    job.send(value, headers=(("trace", b"2"),))
    job.send(value[:-1], headers=(("trace", b"3"),))
    job.send(value, headers=(("__value_schema_id", b"\1"),))
    job.run()

    assert job.query("deviceId, _offset") == [("a", 1)]
    assert {at: (each["reason"], each["headers"]) for at, each in job.errors.read().items()} == {
        0: ("no-registry-for-framing", [[guid[0], guid[1].hex()], ["trace", b"1".hex()]]),
        2: ("truncated", [["trace", b"3".hex()]]),
        3: ("truncated", [["__value_schema_id", "01"]]),
    }


def _judge(value, headers):
    with pytest.raises(FramingError) as caught:
        decode_frame(value, headers, kinds={FrameKind.GLUE})
    return caught.value.reason


def test_records_of_aborted_transactions_are_neither_rows_nor_lost(job, capsys):
    v1 = job.register(_V1)
    job.transact(make_reading(v1, "a"), commit=True)
    job.transact(make_reading(v1, "b"), commit=False)
    job.send(make_reading(v1, "c"))
    job.run()

    assert [device for (device,) in job.query("deviceId")] == ["a", "c"]
    (line,) = job.lines(capsys, 1)
    assert (line["Records"], line["Rows"], line["lost"]) == (2, 2, [])


def _delete_before_the_files(job, monkeypatch):
    """Let Kafka delete two records after the lake is written, and before the files are."""
    fill, write, has_lake = Lake.write, ParquetFiles.write, Event()

    def fill_first(self, *given):
        try:
            return fill(self, *given)
        finally:
            has_lake.set()

    def delete_and_write(self, *given):
        has_lake.wait(SECONDS)
        job.delete(before=2)
        return write(self, *given)

    monkeypatch.setattr(Lake, "write", fill_first)
    monkeypatch.setattr(ParquetFiles, "write", delete_and_write)


def test_records_deleted_between_two_sinks_stop_a_job_without_a_limit(job, monkeypatch, tmp_path):
    """Spark reads Kafka once more for each sink, and says nothing of records that are gone."""
    monkeypatch.setattr("penstock.spark.decoding.keeper._MOST", 1)  # those of the new version
    v1 = job.register(_V1)
    sinks = with_sinks(job.settings.sinks, parquet_path=str(tmp_path / "parquet"))
    unlimited = {"sinks": sinks, "max_offsets_per_trigger": None}
    job.send(*(make_reading(v1, str(at)) for at in range(5)))
    with monkeypatch.context() as patch:
        _delete_before_the_files(job, patch)
        with pytest.raises(
            StreamingQueryException,
            match="batch 0 had 5 records in its first pass and 3 in later ones",
        ):
            job.run(**unlimited)

    with pytest.raises(StreamingQueryException, match=rf"batch 0 found 2 .* {job.topic}/0 0 to 1"):
        job.run(**unlimited)
    job.run(**unlimited, on_lost_offsets=LostOffsets.GO_ON)
    assert len(job.query("deviceId")) == 5


def test_a_batch_with_a_limit_is_read_from_kafka_once_for_two_sinks(
    job, monkeypatch, spark, tmp_path
):
    """So records that Kafka deletes meanwhile are in both; Spark's own count says once."""
    v1 = job.register(_V1)
    sinks = with_sinks(job.settings.sinks, parquet_path=str(tmp_path / "parquet"))
    job.send(*(make_reading(v1, str(at)) for at in range(5)), b"?")
    _delete_before_the_files(job, monkeypatch)
    kept = persisted(spark)
    query = job.start(sinks=sinks)
    assert query.awaitTermination(SECONDS)

    assert [each["numInputRows"] for each in query.recentProgress] == [6]
    assert len(job.query("deviceId")) == spark.read.parquet(str(tmp_path / "parquet")).count() == 5
    assert job.errors.reasons() == {5: "unknown-framing"}
    assert persisted(spark) <= kept


def test_a_registry_that_is_down_for_a_moment_does_not_end_the_query(job, monkeypatch):
    v1 = job.register(_V1)
    job.send(make_reading(v1, "a"))
    get, outages = (
        job.registry.get,
        [RegistryUnavailableError("down"), SinkUnavailableError("down")],
    )

    def fail(key):
        if outages:
            raise outages.pop()
        return get(key)

    monkeypatch.setattr(job.registry, "get", fail)
    job.run()

    assert job.query("deviceId") == [("a",)]
    assert outages == []
