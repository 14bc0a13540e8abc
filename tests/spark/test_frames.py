"""Frames opened in SQL are what `decode_frame` makes of them."""

from __future__ import annotations

import random
import zlib
from collections import Counter
from itertools import product

import pytest
from chispa import assert_df_equality
from pyspark.sql import functions as F

from penstock.errors import FramingError
from penstock.framing import FrameKind, SchemaKey, decode_frame, encode_glue_frame
from penstock.spark.decoding.frames import split_frames

_KEY = SchemaKey.parse("d3e21a3b-f828-4f0c-9f3e-0b1f9a1c2d3e")
_KINDS = [
    {FrameKind.GLUE},
    {FrameKind.GLUE, FrameKind.CONFLUENT},
    {FrameKind.GLUE, FrameKind.APICURIO},
    {FrameKind.CONFLUENT},
]
_HEADERS = {
    FrameKind.CONFLUENT: "__value_schema_id",
    FrameKind.APICURIO: "apicurio.value.globalId",
}
_KAFKA = "value binary, headers array<struct<key: string, value: binary>>"


def _expect(value, headers, kinds):
    """Return the expected columns, computed by the code that the functions use."""
    try:
        frame = decode_frame(value, headers or (), kinds=kinds)
    except FramingError as error:
        if value is not None and _is_elsewhere(headers, kinds):
            # None of these can be decoded; the dead letter has the reason, not the column.
            return ("no-registry-for-framing", None, None, None)
        return (str(error.reason), None, None, None)
    if frame is None:
        return ("tombstone", None, None, None)
    return ("framed", frame.key.pack(), str(frame.compression), frame.payload)


def _is_elsewhere(headers, kinds):
    """Return whether only headers of kinds without a registry hold the schema id."""
    names = {name for name, _ in headers or ()}
    known = [_HEADERS[kind] in names for kind in _HEADERS if kind in kinds]
    return bool(names & set(_HEADERS.values())) and not any(known)


def _records(rng):
    """Every first byte at every length around a header's, and ids in headers of records."""
    tails = [b"", b"\0", b"\0\0\0\0", b"\0\0\0\1", b"\x80\0\0\1", b"\0" * 8, b"\0" * 7 + b"\1"]
    values = [
        bytes([first]) + tail + rng.randbytes(more)
        for first, tail, more in product((0, 1, 2, 3, 255), tails, (0, 1, 3, 12, 16))
    ]
    values += [bytes([3, second]) + rng.randbytes(16) for second in (1, 4, 6, 255)]
    values += [encode_glue_frame(_KEY, payload) for payload in (b"", b"x", b"\0" * 40)]
    values += [encode_glue_frame(_KEY, zlib.compress(b"x" * 40), compress=True)]
    values += [b"", None]
    records = [(value, headers) for value in values for headers in (None, [], [("other", b"\1")])]
    ids = [None, b"", b"\0", b"\0\0\0\0\1", b"\0\0\0\0\0", b"\0\0\0\0\1x", b"\1" * 17, b"\1" * 18]
    ids += [b"\1", b"\2\0\0\0\1", b"\0\0\0\0\0x"]
    for one, value in product(ids, (b"payload", b"", None, encode_glue_frame(_KEY, b""))):
        records.append((value, [("__value_schema_id", one)]))
        records.append(
            (value, [("__value_schema_id", b"\2"), ("__value_schema_id", one), ("b", b"")])
        )
    numbers = [None, b"", b"\0", b"\0" * 7 + b"\1", b"\0" * 8, b"\x80" * 8, b"\0" * 7 + b"\1x"]
    for one, value in product(numbers, (b"payload", b"", None, encode_glue_frame(_KEY, b""))):
        records.append((value, [(_HEADERS[FrameKind.APICURIO], one)]))
        both = [(_HEADERS[FrameKind.APICURIO], one), ("__value_schema_id", b"\0\0\0\0\1")]
        records += [(value, both), (value, both[::-1])]
    return records


def test_a_frame_is_split(spark):
    rows = [(encode_glue_frame(_KEY, b"abc"),), (None,), (b"{}",), (b"\3\0abc",)]
    columns = "status string, schema binary, compression string, payload binary"

    found = split_frames(spark.createDataFrame(rows, "value binary"))

    expected = [
        ("framed", _KEY.pack(), "none", b"abc"),
        ("tombstone", None, None, None),
        ("unknown-framing", None, None, None),
        ("truncated", None, None, None),
    ]
    assert_df_equality(
        found.drop("value"), spark.createDataFrame(expected, columns), ignore_nullable=True
    )


def test_frames_are_judged_as_the_functions_judge_them(spark):
    records = _records(random.Random(20261121))
    seen = Counter()
    for kinds in _KINDS:
        split = split_frames(spark.createDataFrame(records, _KAFKA), kinds)
        for row in split.collect():
            headers = None if row.headers is None else [tuple(header) for header in row.headers]
            value = None if row.value is None else bytes(row.value)
            found = (row.status, row.schema, row.compression, row.payload)
            if row.status == "framed":
                assert SchemaKey.unpack(bytes(row.schema)).kind in kinds
            if row.compression == "zlib":  # opened later
                assert found == ("framed", value[2:18], "zlib", value[18:])
            else:
                assert found == _expect(value, headers, kinds), (kinds, value, headers)
            seen[row.status] += 1
    assert set(seen) == {
        "framed", "tombstone", "unknown-framing", "truncated", "undecodable",
        "no-registry-for-framing",
    }  # fmt: skip


@pytest.mark.usefixtures("compiled")
def test_a_whole_stage_is_compiled(spark):
    rows = [(encode_glue_frame(_KEY, b"abc"), None)]
    split = split_frames(spark.createDataFrame(rows, _KAFKA)).filter(F.col("status") == "framed")

    plan = split._jdf.queryExecution().executedPlan().toString()

    assert "*(1) Project" in plan
