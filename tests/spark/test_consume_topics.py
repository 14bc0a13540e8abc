"""The job that consumes, on a real broker: topics that grow, and that are recreated."""

from __future__ import annotations

import logging
from functools import partial

import pytest
from pyspark.errors import StreamingQueryException

from localcloud.testing import wait_until
from penstock.attempts import Attempts
from penstock.kafka import TopicIds
from penstock.spark.query import stream
from penstock.spark.settings.consume import LostOffsets
from penstock.spark.state.topic_watch import TopicWatch
from tests.spark.consuming import DEVICE, SECONDS, TIME, make_reading
from tests.spark.records import make_record

_V1 = make_record(DEVICE, TIME)


def test_a_new_partition_is_read_from_its_start(job):
    v1 = job.register(_V1)
    job.send(make_reading(v1, "a"))
    query = job.start(trigger="1 second")
    try:
        query.processAllAvailable()
        job.add_partition()
        job.send(*(make_reading(v1, "b") for _ in range(8)), keys=[bytes([at]) for at in range(8)])
        wait_until("all rows", lambda: len(job.query("deviceId")) == 9, SECONDS)
    finally:
        query.stop()

    counts = job.reader.query(
        "SELECT _kafka_partition, min(_offset), max(_offset), count(*) FROM t GROUP BY 1 ORDER BY 1"
    )
    assert [(partition, first, last + 1 - count) for partition, first, last, count in counts] == [
        (0, 0, 0),
        (1, 0, 0),
    ]


def test_a_topic_that_is_new_to_the_job_begins_with_its_first_record(job, capsys, caplog):
    """Records deleted before are not lost, unless the partition is new in a known topic."""
    v1, other = job.register(_V1), job.add_topic()
    job.send(make_reading(v1, "a"))
    job.run()
    job.add_partition()
    job.send(
        *(make_reading(v1, f"b{at}") for at in range(8)), keys=[bytes([at]) for at in range(8)]
    )
    job.send(*(make_reading(v1, f"c{at}") for at in range(4)), topic=other)
    job.delete(before=2, topic=other)
    job.delete(before=1, partition=1)
    topics = {"topics": (job.topic, other)}
    with pytest.raises(StreamingQueryException, match=(
        rf"batch 1 found 1 records deleted that were not read, .*: {job.topic}/1 0 to 0; start"
    )):  # fmt: skip
        job.run(**topics)
    with caplog.at_level(logging.WARNING):
        job.run(**topics, on_lost_offsets=LostOffsets.GO_ON)

    _, line = job.lines(capsys, 2)
    assert line["lost"] == [f"{job.topic}/1 0 to 0"]
    assert f"{other}/0 0 to 1 were deleted before the job read these topics" in caplog.text
    assert len(job.query("deviceId")) == 1 + 7 + 2


def test_what_a_new_topic_loses_while_it_is_read_stops_each_start(job, capsys, monkeypatch):
    """Records that Kafka deleted before the first start are not lost, also after a restart."""
    v1, other, check = job.register(_V1), job.add_topic(), TopicWatch.check
    job.send(make_reading(v1, "a"))
    job.run()
    job.send(*(make_reading(v1, f"b{at}") for at in range(5)), topic=other)
    job.delete(before=1, topic=other)

    def check_and_delete(watch, batch):
        monkeypatch.setattr(TopicWatch, "check", check)
        job.delete(before=3, topic=other)
        return check(watch, batch)

    monkeypatch.setattr(TopicWatch, "check", check_and_delete)
    topics = {"topics": (job.topic, other)}
    for _ in range(2):
        with pytest.raises(StreamingQueryException, match=(
            rf"batch 1 found 2 records deleted that were not read, .*: {other}/0 1 to 2; start"
        )):  # fmt: skip
            job.run(**topics)
    job.run(**topics, on_lost_offsets=LostOffsets.GO_ON)

    _, line = job.lines(capsys, 2)
    assert (line["lost"], line["Records"]) == ([f"{other}/0 1 to 2"], 2)
    assert sorted(job.query("deviceId")) == [("a",), ("b3",), ("b4",)]


def test_a_topic_that_is_back_is_read_on(job, capsys):
    """It was taken out of the job, with what it had then; Spark would read all of it again."""
    v1, other = job.register(_V1), job.add_topic()
    both = {"topics": (job.topic, other)}
    job.send(make_reading(v1, "a"), make_reading(v1, "b"), topic=other)
    job.send(make_reading(v1, "c"))
    job.run(**both)
    job.send(make_reading(v1, "d"))
    job.send(make_reading(v1, "e"), topic=other)
    with pytest.raises(StreamingQueryException, match=f"{other}/0 is missing, and was read up to"):
        job.run()
    job.run(on_lost_offsets=LostOffsets.GO_ON)
    job.send(make_reading(v1, "f"), topic=other)
    job.send(make_reading(v1, "g"))
    for _ in range(2):
        job.run(**both)
        job.send(make_reading(v1, "h"), topic=other)

    assert sorted(job.query("deviceId")) == [(name,) for name in "abcdefgh"]
    assert [line["lost"] for line in job.lines(capsys, 4)] == [[]] * 4


def test_a_topic_that_was_created_again_stops_the_job(job, capsys):
    """Even one that has more records by now than were read of the old one."""
    v1 = job.register(_V1)
    job.send(*(make_reading(v1, f"old {at}") for at in range(2)))
    job.run()
    job.create_anew()
    job.send(*(make_reading(v1, f"new {at}") for at in range(3)))

    for _ in range(2):
        with pytest.raises(StreamingQueryException, match=(
            rf"before batch 1 topics changed: {job.topic} was deleted and recreated, and the "
            rf"records of the old one from {job.topic}/0 2 on are lost; {job.topic}/0 0 to 1 of "
            r"the new one would not be read. Begin with a new checkpoint"
        )):  # fmt: skip
            job.run()
    assert len(job.query("deviceId")) == 2
    job.run(on_lost_offsets=LostOffsets.GO_ON)

    _, line = job.lines(capsys, 2)
    assert (line["lost"], line["LostRecords"]) == ([f"{job.topic}/0 0 to 1"], 2)
    assert job.query("deviceId") == [("old 0",), ("old 1",), ("new 2",)]


def test_a_topic_that_is_deleted_before_its_records_are_read(job, capsys, monkeypatch):
    """Spark would wait for them with each start; the others are read, where the job is to go on."""
    monkeypatch.setattr(stream, "TopicIds", partial(TopicIds, absences=Attempts(0.1, 0.1, 1)))
    v1, other, check = job.register(_V1), job.add_topic(), TopicWatch.check
    pattern = {"topics": (), "topic_pattern": f"{job.topic}|{other}"}
    job.send(make_reading(v1, "a"))
    job.send(make_reading(v1, "x"), topic=other)
    job.run(**pattern)
    job.send(make_reading(v1, "b"))
    job.send(make_reading(v1, "y"), make_reading(v1, "z"), topic=other)

    def drop_and_check(watch, batch):
        job.drop(other)
        monkeypatch.setattr(TopicWatch, "check", check)
        return check(watch, batch)

    monkeypatch.setattr(TopicWatch, "check", drop_and_check)
    with pytest.raises(StreamingQueryException, match=(
        rf"before batch 1 topics changed: {other}/0 is missing, and was read up to offset 1; "
        rf"{other}/0 1 to 2 cannot be read\. Begin"
    )):  # fmt: skip
        job.run(**pattern)
    job.run(**pattern, on_lost_offsets=LostOffsets.GO_ON)
    job.send(make_reading(v1, "c"))
    job.run(**pattern, on_lost_offsets=LostOffsets.GO_ON)

    lines = {line["batch"]: line for line in job.lines(capsys, 2)}
    assert (lines[1]["lost"], lines[1]["Records"]) == ([f"{other}/0 1 to 2"], 1)
    assert sorted(job.query("deviceId")) == [("a",), ("b",), ("c",), ("x",)]
