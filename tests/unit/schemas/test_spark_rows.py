"""Rows that Spark read become the events that our own codec makes of the same records."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import Row

from penstock.schemas import compile_row_restorer


def _restore(type_: Any, value: Any) -> Any:
    schema = {"type": "record", "name": "R", "fields": [{"name": "x", "type": type_}]}
    return compile_row_restorer(schema)(Row(x=value)).get("x")


def _logical(kind: str, logical: Any, **more: Any) -> dict[str, Any]:
    return {"type": kind, "logicalType": logical, **more}


def _money(**more: Any) -> dict[str, Any]:
    return _logical("bytes", "decimal", precision=30, scale=2, **more)


_FIXED = {"type": "fixed", "name": "F", "size": 4}
_BEFORE = datetime(1969, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC).astimezone().replace(tzinfo=None)


@pytest.mark.parametrize(
    ("type_", "value", "expected"),
    [
        ("long", 7, 7),
        (["null", "long"], None, None),
        ("bytes", bytearray(b"\0\xff"), b"\0\xff"),
        (_FIXED, bytearray(b"abcd"), b"abcd"),
        (_logical("int", "date"), date(1969, 12, 31), -1),
        (_logical("long", "timestamp-millis"), _BEFORE, -1),
        (_logical("long", "timestamp-micros"), _BEFORE, -1_000),
        (_logical("long", "local-timestamp-millis"), datetime(1969, 12, 31, 23, 59, 59), -1_000),
        (_logical("long", "local-timestamp-micros"), datetime(1970, 1, 1, 0, 0, 1), 1_000_000),
        (_logical("string", "uuid"), "d3e2", "d3e2"),
        (_money(), Decimal("0.00"), b"\0"),
        (_money(), Decimal("1.27"), b"\x7f"),
        (_money(), Decimal("1.28"), b"\0\x80"),
        (_money(), Decimal("-1.28"), b"\x80"),
        (_money(), Decimal("-1.29"), b"\xff\x7f"),
        (_money(), Decimal(f"{10**27}.01"), (10**29 + 1).to_bytes(13, "big")),
        ({**_FIXED, "logicalType": "decimal", "precision": 5}, Decimal(-2), b"\xff\xff\xff\xfe"),
        # Avro ignores these logical types.
        (_logical("long", "date"), 7, 7),
        (_logical("string", "timestamp-millis"), "x", "x"),
        (_logical("bytes", "decimal"), bytearray(b"a"), b"a"),
        (_logical("bytes", "date"), bytearray(b"a"), b"a"),
        ({**_FIXED, "logicalType": "decimal", "precision": 99}, bytearray(b"abcd"), b"abcd"),
        ({"type": "array", "items": "bytes", "logicalType": "decimal"}, [bytearray(b"a")], [b"a"]),
        (_logical("long", ["date"]), 7, 7),
        ([_logical("int", "date"), "long"], 7, 7),
        (["int", "long"], 7, 7),
        (["float", "double"], 0.5, 0.5),
        (["null", "long", "bytes"], Row(member0=None, member1=bytearray(b"a")), b"a"),
        (["null", "long", "bytes"], Row(member0=0, member1=None), 0),
        (["null", "long", "bytes"], Row(member0=None, member1=None), None),
        ({"type": "array", "items": ["null", "bytes"]}, [bytearray(b"a"), None], [b"a", None]),
        ({"type": "map", "values": "bytes"}, {"k": bytearray(b"a")}, {"k": b"a"}),
    ],
)
def test_values_are_the_same_as_the_codecs(type_: Any, value: Any, expected: Any) -> None:
    found = _restore(type_, value)

    assert found == expected
    assert type(found) is type(expected)


def test_names_are_those_of_the_event_and_what_is_null_is_left_out() -> None:
    inner = {
        "type": "record",
        "name": "I",
        "fields": [{"name": "a_b", "type": ["null", "long"], "jsonName": "a-b"}],
    }

    assert _restore(inner, Row(a_b=1)) == {"a-b": 1}
    assert _restore(inner, Row(a_b=None)) == {}


def test_an_object_of_a_union_has_the_names_of_its_branch() -> None:
    branches = [
        {
            "type": "record",
            "name": name,
            "fields": [{"name": "x", "type": "long", "jsonName": name}],
        }
        for name in ("In", "Out")
    ]

    assert _restore(branches, Row(member0=Row(x=5), member1=None)) == {"In": 5}
    assert _restore(branches, Row(member0=None, member1=Row(x=5))) == {"Out": 5}


def test_fields_missing_from_a_row_are_null() -> None:
    nothing = {"type": "record", "name": "N", "fields": []}
    schema = {
        "type": "record",
        "name": "R",
        "fields": [{"name": "a", "type": ["null", nothing]}, {"name": "b", "type": "long"}],
    }

    assert compile_row_restorer(schema)(Row(b=1)) == {"b": 1}
