"""Values that a payload of a few bytes could become, and decimals, are judged by the decoder."""

from __future__ import annotations

from dataclasses import replace

import pytest

from penstock.spark.decoding.decoder import Decoder
from penstock.spark.decoding.frames import split_frames
from tests.spark.records import GLUE, frame, make_record, make_topic, make_version

pytestmark = pytest.mark.usefixtures("compiled")


def _decode(spark, version, values, written=None):
    """Decode values of a version, or of a schema without its limits, by which nobody writes."""
    writer = replace(version, schema=written or version.schema)
    frames = split_frames(make_topic(spark, [frame(writer, each) for each in values]), GLUE)
    return Decoder(spark, [version]).decode(frames)


def test_the_values_of_a_payload_are_counted(spark):
    version = make_version(1, make_record(("items", {"type": "array", "items": ["null", "int"]})))
    counts = (499_999, 500_000)

    decoded = _decode(spark, version, [{"items": [None] * count} for count in counts])

    assert [row.status for row in decoded.select("status").collect()] == ["decoded", "undecodable"]


def _make_list(number, columns):
    """Make a version of lists whose items have so many fields, all numbers."""
    item = make_record(*((f"c{each}", ["null", "int"]) for each in range(columns)), name="Item")
    return make_version(number, make_record(("items", {"type": "array", "items": item})))


def _decode_lists(spark, counts, columns):
    """Return the statuses of lists of items of one field, of which a later version has more."""
    versions = [_make_list(1, 1), _make_list(2, columns)]
    values = [frame(versions[0], {"items": [{"c0": None}] * count}) for count in counts]
    decoded = Decoder(spark, versions).decode(split_frames(make_topic(spark, values), GLUE))
    return [row.status for row in decoded.select("status").collect()]


def test_fields_that_only_other_versions_have_are_no_values_of_the_payload(spark):
    assert _decode_lists(spark, [30_000], 20) == ["decoded"]


def test_the_columns_of_all_records_of_a_payload_are_bounded(spark):
    assert _decode_lists(spark, [80_000, 79_999], 100) == ["oversize", "decoded"]


def test_the_members_of_all_unions_of_a_payload_are_bounded(spark):
    kinds = [make_record(("a", "int"), name=f"R{each}") for each in range(100)]
    version = make_version(1, make_record(("items", {"type": "array", "items": kinds})))
    counts = (80_000, 79_000)

    decoded = _decode(spark, version, [{"items": [{"a": 1}] * count} for count in counts])

    assert [row.status for row in decoded.select("status").collect()] == ["oversize", "decoded"]


def test_a_decimal_that_its_column_cannot_hold_is_no_row(spark):
    money = {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}
    version = make_version(1, make_record(("a", money)))
    numbers = [
        b"\x01\xe2", b"\0" * 20 + b"\x05", b"\xff" * 20,
        b"", b"\x01" + b"\0" * 8, b"\x7f" * 20,
    ]  # fmt: skip

    plain = make_record(("a", "bytes"))
    decoded = _decode(spark, version, [{"a": each} for each in numbers], plain)

    rows = decoded.selectExpr("status", "CAST(record.event.a AS STRING)").collect()
    assert [tuple(row) for row in rows] == [
        ("decoded", "4.82"), ("decoded", "0.05"), ("decoded", "-0.01"),
        ("undecodable", None), ("undecodable", None), ("undecodable", None),
    ]  # fmt: skip
