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
from penstock.framing import ID_HEADERS, FrameKind, Framing, SchemaKey, encode_glue_frame
from penstock.spark.decoding.frames import split_frames

_KEY = SchemaKey.parse("d3e21a3b-f828-4f0c-9f3e-0b1f9a1c2d3e")
_TOPIC = "readings"
_FRAMINGS = [
    Framing(frozenset({FrameKind.GLUE})),
    Framing(frozenset({FrameKind.GLUE, FrameKind.CONFLUENT})),
    Framing(frozenset({FrameKind.GLUE, FrameKind.CONFLUENT}), content_ids=True),
    Framing(frozenset({FrameKind.GLUE, FrameKind.APICURIO}), content_ids=True),
    Framing(frozenset({FrameKind.GLUE, FrameKind.APICURIO})),
    Framing(frozenset({FrameKind.CONFLUENT}), {"another": _KEY}),
    Framing(frozenset(FrameKind)),
    Framing(frozenset(FrameKind), {_TOPIC: _KEY}, content_ids=True),
    Framing(frozenset(FrameKind), {"another": _KEY, _TOPIC: SchemaKey.parse("confluent:7")}),
    Framing(frozenset({FrameKind.GLUE}), {_TOPIC: SchemaKey.parse("apicurio:7")}),
]
_KAFKA = "topic string, value binary, headers array<struct<key: string, value: binary>>"


def _expect(value, headers, framing):
    """Return the expected columns, computed by the code that the functions use."""
    try:
        frame = framing.decode(value, headers or (), _TOPIC)
    except FramingError as error:
        if value is not None and _is_elsewhere(headers, framing):
            # None of these can be decoded; the dead letter has the reason, not the column.
            return ("no-registry-for-framing", None, None, None)
        return (str(error.reason), None, None, None)
    if frame is None:
        return ("tombstone", None, None, None)
    return ("framed", frame.key.pack(), str(frame.compression), frame.payload)


def _is_elsewhere(headers, framing):
    """Return whether only headers whose ids no registry has hold the schema id."""
    found = {name for name, _ in headers or () if name in ID_HEADERS}
    return bool(found) and not any(map(framing.has_registry, found))


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
    numbers += [b"\0\0\0\1\0\0\0\0", b"\0" * 4 + b"\xff" * 4, b"\0" * 7]
    encodings = [None, b"BINARY", b"JSON", b""]
    values = (b"payload", b"", None, encode_glue_frame(_KEY, b""))
    for name, one, value in product(("globalId", "contentId"), numbers, values):
        found = (f"apicurio.value.{name}", one)
        records += [(value, [found, ("apicurio.value.encoding", each)]) for each in encodings]
        both = [found, ("__value_schema_id", b"\0\0\0\0\1")]
        records += [(value, [found]), (value, both), (value, both[::-1])]
        records.append((value, [found, ("apicurio.value.contentId", b"\0" * 7 + b"\2")]))
    return records


def test_a_frame_is_split(spark):
    rows = [(encode_glue_frame(_KEY, b"abc"),), (None,), (b"{}",), (b"\3\0abc",)]
    columns = "status string, schema binary, compression string, payload binary"

    found = split_frames(spark.createDataFrame(rows, "value binary"), Framing())

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
    rows = spark.createDataFrame([(_TOPIC, *record) for record in records], _KAFKA)
    seen = Counter()
    for framing in _FRAMINGS:
        for row in split_frames(rows, framing).collect():
            headers = None if row.headers is None else [tuple(header) for header in row.headers]
            value = None if row.value is None else bytes(row.value)
            found = (row.status, row.schema, row.compression, row.payload)
            if row.status == "framed":
                assert SchemaKey.unpack(bytes(row.schema)).kind in framing.kinds
            if row.compression == "zlib":  # opened later
                assert found == ("framed", value[2:18], "zlib", value[18:])
            else:
                assert found == _expect(value, headers, framing), (framing, value, headers)
            seen[row.status] += 1
    assert set(seen) == {
        "framed", "tombstone", "unknown-framing", "truncated", "undecodable",
        "no-registry-for-framing",
    }  # fmt: skip


@pytest.mark.usefixtures("compiled")
def test_a_whole_stage_is_compiled(spark):
    rows = [(_TOPIC, encode_glue_frame(_KEY, b"abc"), None)]
    split = split_frames(spark.createDataFrame(rows, _KAFKA), Framing()).filter(
        F.col("status") == "framed"
    )

    plan = split._jdf.queryExecution().executedPlan().toString()

    assert "*(1) Project" in plan
