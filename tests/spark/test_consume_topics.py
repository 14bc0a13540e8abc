"""The job that consumes, on a real broker: topics that grow, and that are created anew."""

from __future__ import annotations

import pytest
from pyspark.errors import StreamingQueryException

from penstock.spark import LostOffsets
from tests.fixtures.functions import wait_until
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


def test_a_topic_that_was_created_anew_stops_the_job(job, capsys):
    """Even one that has more records by now than were read of the old one."""
    v1 = job.register(_V1)
    job.send(*(make_reading(v1, f"old {at}") for at in range(2)))
    job.run()
    job.create_anew()
    job.send(*(make_reading(v1, f"new {at}") for at in range(3)))

    for _ in range(2):
        with pytest.raises(StreamingQueryException, match=(
            rf"before batch 1 topics changed: {job.topic} was deleted and created anew, and what "
            rf"the old one had from {job.topic}/0 2 on is gone; {job.topic}/0 0 to 1 of the new "
            r"would not be read. Begin with a new checkpoint"
        )):  # fmt: skip
            job.run()
    assert len(job.query("deviceId")) == 2
    job.run(on_lost_offsets=LostOffsets.GO_ON)

    _, line = job.lines(capsys, 2)
    assert (line["lost"], line["LostRecords"]) == ([f"{job.topic}/0 0 to 1"], 2)
    assert job.query("deviceId") == [("old 0",), ("old 1",), ("new 2",)]
