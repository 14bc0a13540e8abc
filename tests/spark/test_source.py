"""The source whose records come as columns returns what Spark's own source returns."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from functools import partial

import pytest
from kafka.admin import ConfigResource, ConfigResourceType
from pyspark.sql import functions as F

from penstock.spark.decoding.jar import load_jar
from penstock.spark.query.source import SOURCE, read_topics, source_options
from penstock.spark.rows import LAST_MILLISECOND
from penstock.spark.state.losses import OffsetRange, take_removed
from tests.spark.consuming import DEVICE, SECONDS, TIME, make_reading
from tests.spark.records import make_record

_SPARK = "kafka"
_HEADERS = [("id", b"\x00\xff"), ("id", b""), ("ключ", b"k")]


@pytest.fixture
def read(job):
    """Read the topic by one of both sources, the bytes of all columns in the order of offsets."""

    load_jar(job.spark)

    def read(source, **options):
        given = {**source_options(job.settings.kafka, job.settings.read), **options}
        records = job.spark.read.format(source).options(**given).load()
        return [tuple(row) for row in records.orderBy("partition", "offset").collect()]

    return read


@pytest.fixture
def producer(job):
    """A producer that may set timestamps, to a topic that takes all that Kafka has."""
    limit = {"message.timestamp.after.max.ms": str(2**63 - 1)}
    with closing(job.brokers.cluster.open_admin()) as admin:
        admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, job.topic, limit)])
    with closing(job.open_producer()) as producer:
        yield producer


def test_columns_are_those_of_spark(job, producer, read):
    """Nothing, empty bytes, headers of one name, and times before and after 1970."""
    for key, value, headers, at in [
        (None, b"", [], 0),
        (b"", None, [("empty", b"")], 1),
        (b"k", b"\x00\xff", _HEADERS, 1_764_000_000_123),
        (b"k", b"x" * 70_000, [], 253_402_300_799_999),
    ]:
        producer.send(job.topic, value, key, headers=headers, timestamp_ms=at).get(SECONDS)

    rows = read(SOURCE)
    assert rows == read(_SPARK)
    assert len(rows) == 4
    assert [tuple(each) for each in rows[2][-1]] == _HEADERS
    assert read(SOURCE, includeHeaders="false") == read(_SPARK, includeHeaders="false")


def test_ranges_end_within_a_poll(job, read):
    job.send(*(b"%d" % number for number in range(10)))
    offsets = {
        "startingOffsets": json.dumps({job.topic: {"0": 2}}),
        "endingOffsets": json.dumps({job.topic: {"0": 9}}),
    }
    for size in ("2", "3", "500"):
        rows = read(SOURCE, **offsets, **{"kafka.max.poll.records": size})
        assert [row[1] for row in rows] == [b"%d" % number for number in range(2, 9)]


def test_offsets_without_a_record_are_passed(job, read):
    """Within a range, at its end, and alone; each poll has at most two records."""
    few = {"kafka.max.poll.records": "2"}
    for commits in (True, False, False, True, False):
        job.transact(b"a", b"b", b"c", commit=commits)
        rows = read(SOURCE, **few)
        assert rows == read(_SPARK, **few)
    assert [row[4] for row in rows] == [0, 1, 2, 12, 13, 14]


def test_removed_records_are_passed_or_end_the_query(job, read):
    job.send(*(b"%d" % number for number in range(6)))
    job.delete(before=4)
    start = {"startingOffsets": json.dumps({job.topic: {"0": 1}})}
    assert read(SOURCE, **start) == read(_SPARK, **start)
    assert [row[1] for row in read(SOURCE, **start)] == [b"4", b"5"]
    for source in (SOURCE, _SPARK):
        with pytest.raises(Exception, match=r"data may have been lost|DATA_LOSS"):
            read(source, **start, failOnDataLoss="true")


def test_records_that_spark_is_asked_for_come_a_mebibyte_at_a_time(job):
    """After a poll without records, as one of an aborted transaction alone."""
    load_jar(job.spark)
    job.transact(b"aborted", commit=False)
    headers = [("id", b"x" * 300_000)]
    job.send(*[b"x" * 300_000] * 5, headers=headers)
    options = source_options(job.settings.kafka, job.settings.read)
    one = {"kafka.max.partition.fetch.bytes": "1"}
    records = job.spark.read.format(SOURCE).options(**options, **one).load()

    scan = records._jdf.queryExecution().sparkPlan().collectLeaves().head()
    reader = scan.readerFactory().createColumnarReader(scan.inputPartitions().head())
    sizes = []
    while reader.next():
        sizes.append(reader.get().numRows())
    reader.close()

    assert sizes == [2, 2, 1]


def test_removed_offsets_are_named_though_an_aborted_record_follows(job, read):
    job.send(b"0", b"1")
    job.transact(b"2", b"3", commit=False)
    job.send(b"5")
    job.delete(before=3)
    start = {"startingOffsets": json.dumps({job.topic: {"0": 0}})}

    rows = read(SOURCE, **start)

    assert [row[1] for row in rows] == [b"5"]
    planned = [OffsetRange(job.topic, 0, 0, 6)]
    assert take_removed(job.spark, planned) == [OffsetRange(job.topic, 0, 0, 3)]


def test_each_query_of_a_driver_learns_what_it_found_removed(job, read):
    job.send(*(b"%d" % number for number in range(6)))
    job.delete(before=4)
    start = {"startingOffsets": json.dumps({job.topic: {"0": 1}})}
    planned, found = [OffsetRange(job.topic, 0, 1, 6)], []
    set_query = partial(job.spark.sparkContext.setLocalProperty, "sql.streaming.queryId")
    for query in ("one", "other"):
        set_query(query)
        read(SOURCE, **start)
    for query in ("one", "other", "one", None):
        set_query(query)
        found.append(take_removed(job.spark, planned))

    removed = [OffsetRange(job.topic, 0, 1, 4)]
    assert found == [removed, removed, [], []]


def test_a_stream_goes_on_where_that_of_spark_ended(job, tmp_path):
    """Its checkpoint, its limit of a batch, its columns and its counts are the same."""
    load_jar(job.spark)
    limit = replace(job.settings.read, max_offsets_per_trigger=4)
    options = source_options(job.settings.kafka, limit)
    found, counts = [], []
    for source in (_SPARK, SOURCE, _SPARK):
        job.send(*(b"%d" % number for number in range(6)))
        records = job.spark.readStream.format(source).options(**options).load()
        query = (
            records.writeStream.foreachBatch(lambda batch, _: found.append(_values(batch)))
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        assert query.awaitTermination(SECONDS)
        counts += [each.numInputRows for each in query.recentProgress if each.numInputRows]

    first, second = [0, 1, 2, 3], [4, 5]
    assert found == [first, second, [6, 7, 8, 9], [10, 11], [12, 13, 14, 15], [16, 17]]
    assert counts == [4, 2] * 3


def test_a_timestamp_beyond_spark_is_its_last_one(job, producer):
    """Kafka takes each positive number as a time, and Spark's own source fails on most of them."""
    v1 = job.register(make_record(DEVICE, TIME))
    for at in (LAST_MILLISECOND, LAST_MILLISECOND + 1, 2**63 - 1):
        value = make_reading(v1, str(at))
        producer.send(job.topic, value, b"k", timestamp_ms=at).get(SECONDS)
    job.run()

    records = read_topics(job.spark, job.settings.kafka, job.settings.read)
    times = records.select(F.unix_millis("timestamp")).collect()
    assert [at for (at,) in times] == [LAST_MILLISECOND] * 3
    assert len(job.query("deviceId")) == 3


def _values(batch):
    return sorted(offset for (offset,) in batch.select("offset").collect())
