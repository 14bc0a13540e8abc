"""What people are told of a change."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.schemas import SchemaChange, diff_schemas


def _record(*fields: tuple[str, Any], name: str = "R") -> dict[str, Any]:
    return {
        "type": "record",
        "name": name,
        "fields": [{"name": each, "type": type_} for each, type_ in fields],
    }


def _named(name: str, json_name: str, type_: str) -> dict[str, Any]:
    """Return a record with a field in a field, each with a name of JSON."""
    inner = _record((name, type_), name="I")
    inner["fields"][0]["jsonName"] = json_name
    outer = _record(("order_x002d_id", ["null", inner]))
    outer["fields"][0]["jsonName"] = "Order-ID"
    return outer


_MONEY = {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}
_COLOR = {"type": "enum", "name": "Color", "symbols": ["RED"]}


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        (_record(), _record(("t", ["null", "long"])), "+ t: long (optional)"),
        (_record(("t", "long")), _record(), "- t: long"),
        (_record(("t", "long")), _record(("t", "double")), "~ t: long -> double"),
        (_record(("t", "long")), _record(("t", ["null", "long"])), "~ t: long -> long (optional)"),
        (_record(("a", "int"), ("b", "int")), _record(("c", "int"), ("b", "long")),
         "- a: int\n~ b: int -> long\n+ c: int"),
        (_record(("a", ["null", {"type": "array", "items": _record(("b", "long"), name="I")}])),
         _record(("a", ["null", {"type": "array", "items": _record(("c", _MONEY), name="I")}])),
         "- a[].b: long\n+ a[].c: decimal(9, 2)"),
        (_record(("a", {"type": "map", "values": _record(name="I")})),
         _record(("a", {"type": "map", "values": _record(("b", "int"), name="I")})),
         "+ a{}.b: int"),
        (_record(("a", _record(("b", "int"), name="I"))), _record(("a", "string")),
         "~ a: record I -> string"),
        (_record(("a", _COLOR)), _record(("a", _COLOR | {"symbols": ["RED", "BLUE"]})),
         "~ a: enum Color [RED] -> enum Color [RED, BLUE]"),
        (_record(name="A"), _record(name="B"), "~ the schema: record A -> record B"),
        ("long", ["string", "long"], "~ the schema: long -> string or long"),
        (_named("minor_x0020_units", "minor units", "long"),
         _named("minor_x0020_units", "minor units", "double"),
         "~ Order-ID.minor units: long -> double"),
        (_named("a_x002d_", "a-", "long"), _named("b_x002d_", "b-", "long"),
         "- Order-ID.a-: long\n+ Order-ID.b-: long"),
        (_record(("t", "long")), _record(("t", {"type": "long"})), "the schemas are equal"),
        (_record(("a", "int"), ("b", "int")), _record(("b", "int"), ("a", "int")),
         "the schemas differ only in attributes or in the order of their parts"),
    ],
)  # fmt: skip
def test_a_line_for_each_change(before: Any, after: Any, text: str) -> None:
    assert str(diff_schemas(before, after)) == text


def test_changes_can_be_read_by_programs() -> None:
    diff = diff_schemas(_record(("t", "long")), _record(("t", "double"), ("u", "int")))
    assert diff.changes == (SchemaChange("t", "long", "double"), SchemaChange("u", "", "int"))
    assert not diff.equal
    assert diff_schemas("long", "long").equal
