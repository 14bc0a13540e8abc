"""Events of Avro schemas have the columns that Spark's reader gives them.

tests/spark/test_decoder_types.py compares them with Spark's own.
"""

from __future__ import annotations

from typing import Any

import pytest

from penstock.schemas import merge_schemas
from penstock.tables import Struct, merge_columns, parse_route, read_event


def _read(type_: Any) -> str:
    record = {"type": "record", "name": "e", "fields": [{"name": "x", "type": type_}]}
    columns = merge_columns(Struct(), read_event(merge_schemas([record])))
    return str(columns).removeprefix("struct<").removesuffix(">")


def _logical(type_: str, name: str, **more: Any) -> dict[str, Any]:
    return {"type": type_, "logicalType": name, **more}


_FIXED = {"type": "fixed", "name": "f", "size": 2, "logicalType": "decimal"}
_EMPTY = {"type": "record", "name": "n", "fields": []}


@pytest.mark.parametrize(
    ("type_", "expected"),
    [
        ("null", ""),
        (["null", _EMPTY], ""),
        ({"type": "array", "items": ["null", _EMPTY]}, ""),
        (["null", "long"], "x:bigint"),
        ({"type": "enum", "name": "c", "symbols": ["A"]}, "x:string"),
        (_logical("bytes", "decimal", precision=9, scale=2), "x:decimal(9,2)"),
        (_logical("bytes", "decimal", precision=2, scale=9), "x:binary"),
        (_logical("bytes", "decimal"), "x:binary"),
        (_logical("bytes", "decimal", precision="9"), "x:binary"),
        ({**_FIXED, "precision": 4}, "x:decimal(4,0)"),
        ({**_FIXED, "precision": 5}, "x:binary"),
        (_logical("int", "date"), "x:date"),
        (_logical("long", "date"), "x:bigint"),
        (_logical("long", "timestamp-micros"), "x:timestamp"),
        (_logical("long", "local-timestamp-micros"), "x:timestamp_ntz"),
        (["null", "string", _EMPTY, "int"], "x:struct<member_number:int,member_string:string>"),
        ({"type": "map", "values": ["null", "boolean"]}, "x:map<string,boolean>"),
    ],
)
def test_columns_of_avro_types(type_: Any, expected: str) -> None:
    assert _read(type_) == expected


def test_a_type_that_is_named_twice_is_a_column_twice() -> None:
    inner = {"type": "record", "name": "n", "fields": [{"name": "y", "type": "int"}]}
    fields = [{"name": "a", "type": inner}, {"name": "b", "type": {"type": "array", "items": "n"}}]
    record = {"type": "record", "name": "e", "fields": fields}

    assert str(read_event(merge_schemas([record]))) == (
        "struct<a:struct<y:int>,b:array<struct<y:int>>>"
    )


def test_events_that_are_no_records_have_no_columns() -> None:
    assert read_event("string") == Struct()


@pytest.mark.parametrize("text", ["a", "a=b,a=c", "a=b,c=b", "a=B"])
def test_an_invalid_route_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=text):
        parse_route(text)
