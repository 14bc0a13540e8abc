"""The columns of a catalog's table, and the fields that they hold."""

from __future__ import annotations

import pytest

from penstock.extensions.quality._table import Fields, list_columns
from penstock.schemas import FieldName, avro_name, list_fields, list_required

_PLACE = "struct<room:int,seen:array<struct<a:int,b:int>>,in:struct<x:decimal(4,2)>>"
_TABLE = {
    "StorageDescriptor": {
        "Columns": [
            {"Name": "device", "Type": "string"},
            {"Name": "place", "Type": _PLACE},
            {"Name": "temp", "Type": "int"},
            {"Name": "temp_2", "Type": "double", "Comment": "field TEMP"},
            {"Name": "order_id", "Type": _PLACE, "Comment": 'field "Order-ID"'},
            {"Name": "order_x002d_no", "Type": "int"},
            {"Name": "gone", "Type": "int", "Parameters": {"iceberg.field.current": "false"}},
        ]
    },
    "PartitionKeys": [{"Name": "day", "Type": "date"}],
}  # fmt: skip


def test_columns_come_with_the_inside_of_structs() -> None:
    assert [(each.name, each.type) for each in list_columns(_TABLE)] == [
        ("device", "string"),
        ("place", _PLACE),
        ("place.room", "int"),
        ("place.seen", "array<struct<a:int,b:int>>"),
        ("place.in", "struct<x:decimal(4,2)>"),
        ("place.in.x", "decimal(4,2)"),
        ("temp", "int"),
        ("temp_2", "double"),
        ("order_id", _PLACE),
        ("order_id.room", "int"),
        ("order_id.seen", "array<struct<a:int,b:int>>"),
        ("order_id.in", "struct<x:decimal(4,2)>"),
        ("order_id.in.x", "decimal(4,2)"),
        ("order_x002d_no", "int"),
        ("day", "date"),
    ]


def test_a_widened_column_names_those_that_it_replaced() -> None:
    kept = {
        "_before_1_Spot": "Spot before it became struct<N:double>",
        "_before_2_Spot": "Spot before it became struct<N:double,m:double>",
        "_before_3_Spot": "field of an event",
    }
    listed = [{"Name": "Spot", "Type": "struct<N:double,m:double>"}]
    listed += [{"Name": n, "Type": "struct<N:bigint>", "Comment": c} for n, c in kept.items()]

    columns = list_columns({"StorageDescriptor": {"Columns": listed}})

    assert {each.path: each.before for each in columns if each.before} == {
        ("Spot",): (("_before_1_Spot",), ("_before_2_Spot",)),
        ("Spot", "N"): (("_before_1_Spot", "N"), ("_before_2_Spot", "N")),
    }


@pytest.mark.parametrize(
    ("path", "column"),
    [
        (("device",), "device"),
        (("Temp",), "temp"),
        (("TEMP",), "temp_2"),
        (("Place", "Room"), "place.room"),
        (("place", "seen", "a"), None),
        (("gone",), None),
        (("order_id",), None),
        (("Order-ID",), "order_id"),
        (("Order-ID", "ROOM"), "order_id.room"),
        (("Order-ID", "-in", "x"), "order_id.in.x"),
        (("Order-no",), "order_x002d_no"),
        (("Order-no", "x"), None),
    ],
)
def test_a_field_has_its_column(path: tuple[str, ...], column: str | None) -> None:
    names = [FieldName(avro_name(each), each) for each in path]

    found = Fields(list_columns(_TABLE)).find(names)

    assert (found and found.name) == column


def test_a_schema_requires_fields_that_are_no_union_with_null() -> None:
    inner = {"type": "record", "name": "I", "fields": [{"name": "x", "type": "int"}]}
    schema = {
        "type": "record",
        "name": "R",
        "fields": [
            {"name": "a", "type": "string"},
            {"name": "b", "type": ["null", "string"]},
            {"name": "c", "type": ["null", inner]},
            {"name": "d", "type": "null"},
            {"name": "e", "type": {"type": "array", "items": "I"}},
            {"name": "f", "type": ["int", "string"]},
        ],
    }

    required = [[each.name for each in path] for path in list_required(schema)]
    assert required == [["a"], ["c", "x"], ["e"], ["f"]]
    assert list_fields(schema) == {FieldName(each, each) for each in "abcdef"}
