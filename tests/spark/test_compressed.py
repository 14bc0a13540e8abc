"""Compressed records are inflated apart in the first batch that has some, then with the others."""

from __future__ import annotations

import zlib

import pytest

from penstock.framing import encode_glue_frame
from penstock.schemas import encode
from tests.spark.batches import Job
from tests.spark.decoders import set_decoder
from tests.spark.records import frame, make_record

_V1 = make_record(("deviceId", "string"))
_V2 = make_record(("deviceId", "string"), ("temperature", ["null", "long"]))
_V3 = make_record(("deviceId", "string"), ("temperature", ["null", "double"]))


def test_compressed_records_are_inflated_apart_until_a_batch_had_some(spark, tmp_path, sql_decoder):
    job = Job(spark, tmp_path)
    v1, v2 = job.register(_V1), job.register(_V2)
    job.take([frame(v1, {"deviceId": "a"})])
    packed = frame(v1, {"deviceId": "b" * 100}, compress=True)
    bomb = packed[:18] + zlib.compress(encode("x" * 2**23, "string"))
    values = [
        packed, frame(v2, {"deviceId": "c", "temperature": 1}, compress=True), packed[:-1],
        packed + b"\0", bomb, frame(v1, {"deviceId": "d"}),
        encode_glue_frame(v1.key, b"\2e\0", compress=True),
    ]  # fmt: skip

    counts = job.take(values, 1)

    assert job.sink.parts == [(0, 2), (1, 0), (1, 1), (1, 2), (1, 3)]
    assert set(job.rows()) == {0, 100, 101, 105}
    assert job.errors.reasons() == {
        102: "truncated", 103: "undecodable", 104: "inflate-limit", 106: "trailing-bytes",
    }  # fmt: skip
    assert (counts.records, counts.rows) == (7, 3)
    assert zlib.decompress(packed[18:]) == encode({"deviceId": "b" * 100}, _V1)

    job.restart()
    again = job.take(values, 1)
    v3 = job.register(_V3)
    newer = frame(v3, {"deviceId": "f", "temperature": 0.5}, compress=True)
    later = job.take([*values, newer], 2)

    assert job.sink.parts[5:] == [(2, 0), (2, 2)], "a batch that comes again is split as before"
    assert {at - 100 for at in job.rows() if at >= 200} == {100, 101, 105, 107}
    assert {at - 100: reason for at, reason in job.errors.reasons().items() if at >= 200} == {
        at: reason for at, reason in job.errors.reasons().items() if at < 200
    }
    assert (again.rows, later.records, later.rows) == (3, 8, 4)
    job.take([frame(v1, {"deviceId": "g"})], 3)
    assert job.sink.parts[7:] == [(3, 0)]


def test_the_decoder_in_java_inflates_with_the_others_after_its_first_batch(
    spark, tmp_path, java_decoder
):
    job = Job(spark, tmp_path)
    v1 = job.register(_V1)
    packed = frame(v1, {"deviceId": "b" * 100}, compress=True)
    bomb = packed[:18] + zlib.compress(encode("x" * 2**23, "string"))
    lengthened = encode_glue_frame(v1.key, b"\2e\0", compress=True)
    values = [frame(v1, {"deviceId": "a"}), packed, packed[:-1], packed + b"\0", bomb, lengthened]

    job.take(values[:2])
    job.take(values, 1)

    assert job.sink.parts == [(0, 2), (0, 3), (1, 0)]
    assert set(job.rows()) == {0, 1, 100, 101}
    assert job.errors.reasons() == {
        102: "truncated", 103: "undecodable", 104: "inflate-limit", 105: "trailing-bytes",
    }  # fmt: skip


@pytest.mark.parametrize(("first", "second"), [("sql", "java"), ("java", "sql")])
def test_a_batch_that_died_is_split_as_before_by_the_other_decoder(spark, tmp_path, first, second):
    job = Job(spark, tmp_path)
    v1 = job.register(_V1)
    values = [
        frame(v1, {"deviceId": "a"}),
        frame(v1, {"deviceId": "b" * 100}, compress=True),
    ]

    try:
        set_decoder(spark, first)
        job.restart()
        job.take(values[:1])
        for number in (1, 2):
            set_decoder(spark, first)
            job.restart()
            job.sink.fails = lambda place: place == "after 0"
            with pytest.raises(OSError, match="dead after 0"):
                job.take(values, number)
            set_decoder(spark, second)
            job.sink.fails = lambda _: False
            job.restart()
            assert job.take(values, number).rows == 2
    finally:
        set_decoder(spark)

    assert set(job.rows()) == {0, 100, 101, 200, 201}
