"""Compressed records are inflated and decoded with the others, in one pass."""

from __future__ import annotations

import zlib

from penstock.framing import encode_glue_frame
from penstock.schemas import encode
from tests.spark.batches import Job
from tests.spark.records import frame, make_record


def test_compressed_records_are_rows_like_the_others_and_bombs_are_dead_letters(spark, tmp_path):
    job = Job(spark, tmp_path)
    v1 = job.register(make_record(("deviceId", "string")))
    packed = frame(v1, {"deviceId": "b" * 100}, compress=True)
    bomb = packed[:18] + zlib.compress(encode("x" * 2**23, "string"))
    lengthened = encode_glue_frame(v1.key, b"\2e\0", compress=True)
    values = [frame(v1, {"deviceId": "a"}), packed, packed[:-1], packed + b"\0", bomb, lengthened]

    job.take(values[:2])
    job.take(values, 1)

    assert job.sink.parts == [(0, 1), (1, 0)]
    assert set(job.rows()) == {0, 1, 100, 101}
    assert job.errors.reasons() == {
        102: "truncated", 103: "undecodable", 104: "inflate-limit", 105: "trailing-bytes",
    }  # fmt: skip
