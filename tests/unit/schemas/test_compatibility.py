"""Avro's rules of schema resolution, one case each."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.schemas import Incompatibility, check_both_ways, check_compatibility


def _record(*fields: dict[str, Any], name: str = "R", **attributes: Any) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": list(fields), **attributes}


def _enum(*symbols: str, **attributes: Any) -> dict[str, Any]:
    return {"type": "enum", "name": "E", "symbols": list(symbols), **attributes}


_LONG = {"name": "f", "type": "long"}
_F_TEXT = {"name": "g", "type": "string"}
_FIXED = {"type": "fixed", "name": "X", "size": 4}


@pytest.mark.parametrize(
    ("reader", "writer"),
    [
        ("long", "int"), ("float", "int"), ("double", "int"),
        ("float", "long"), ("double", "long"), ("double", "float"),
        ("string", "bytes"), ("bytes", "string"),
        ({"type": "long", "logicalType": "timestamp-millis"}, "long"),
        ("long", ["int", "long"]), ("int", ["int"]),
        (["null", "long"], "int"), (["null", "long", "string"], ["int", "null"]),
        ({"type": "array", "items": "long"}, {"type": "array", "items": "int"}),
        ({"type": "map", "values": "string"}, {"type": "map", "values": "bytes"}),
        (_record(_LONG), _record(_LONG, {"name": "g", "type": "int"})),
        (_record(_LONG | {"default": 5}), _record()),
        (_record({"name": "g", "type": "long", "aliases": ["f"]}), _record(_LONG)),
        (_record(name="a.R"), _record(name="b.R")),
        (_record(name="New", aliases=["Old"]), _record(name="Old")),
        (_FIXED | {"name": "Y", "aliases": ["X"]}, _FIXED),
        (_enum("A", "B"), _enum("B")),
        (_enum("A", default="A"), _enum("A", "B")),
    ],
)  # fmt: skip
def test_compatible_schemas(reader: Any, writer: Any) -> None:
    assert check_compatibility(reader, writer) == ()


@pytest.mark.parametrize(
    ("reader", "writer", "kind", "path", "message"),
    [
        ("int", "long", "TYPE_MISMATCH", "", "the reader expects int, the writer wrote long"),
        ("long", "double", "TYPE_MISMATCH", "", "the reader expects long, the writer wrote double"),
        ("long", ["long", "string"], "TYPE_MISMATCH", "",
         "the reader expects long, the writer wrote string"),
        (["null", "int"], "long", "MISSING_UNION_BRANCH", "",
         "the reader expects int (optional), the writer may write long"),
        (["null", "int"], ["null", "long"], "MISSING_UNION_BRANCH", "",
         "the reader expects int (optional), the writer may write long"),
        (_record(_LONG), _record(), "READER_FIELD_MISSING_DEFAULT_VALUE", "f",
         "the reader requires the field, which the writer does not have"),
        (_record(name="A"), _record(name="B"), "NAME_MISMATCH", "",
         "the reader expects record A, the writer wrote B"),
        (_record(name="Old"), _record(name="New", aliases=["Old"]), "NAME_MISMATCH", "",
         "the reader expects record Old, the writer wrote New"),
        (_FIXED, _FIXED | {"size": 5}, "FIXED_SIZE_MISMATCH", "",
         "the reader expects 4 bytes, the writer wrote 5"),
        (_enum("A"), _enum("A", "B", "C"), "MISSING_ENUM_SYMBOLS", "",
         "the reader lacks the writer's symbols B, C"),
        (_record({"name": "g", "type": "long", "aliases": ["f", "h"]}),
         _record(_LONG, {"name": "h", "type": "long"}), "AMBIGUOUS_FIELD", "g",
         "the reader's name and aliases match more than one field of the writer: f and h"),
        ({"type": "array", "items": "int"}, {"type": "array", "items": "string"},
         "TYPE_MISMATCH", "[]", "the reader expects int, the writer wrote string"),
    ],
)  # fmt: skip
def test_incompatible_schemas(reader: Any, writer: Any, kind: str, path: str, message: str) -> None:
    assert check_compatibility(reader, writer) == (Incompatibility(kind, path, message),)


def test_a_version_is_compared_with_earlier_ones_both_ways() -> None:
    new = _record(_LONG, _F_TEXT)
    earlier = [_record(_LONG), _record(_F_TEXT | {"type": "bytes"}), new, "int"]

    assert list(check_both_ways(new, earlier)) == [
        (check_compatibility(new, each), check_compatibility(each, new)) for each in earlier
    ]


def test_a_missing_branch_has_the_path_of_its_cause_in_json() -> None:
    def amount(type_: str) -> Any:
        units = {"name": "minor_x0020_units", "type": type_, "jsonName": "minor units"}
        inner = _record(units, name="Amount")
        return _record({"name": "Amount", "type": ["null", {"type": "array", "items": inner}]})

    (found,) = check_compatibility(reader=amount("long"), writer=amount("double"))

    assert found.kind == "MISSING_UNION_BRANCH"  # Avro's name
    assert str(found) == "Amount[].minor units: the reader expects long, the writer wrote double"


def test_every_incompatibility_has_its_path() -> None:
    def nested(type_: str) -> Any:
        items = {"type": "map", "values": _record({"name": "x", "type": type_}, name="I")}
        return _record(
            {"name": "a", "type": {"type": "array", "items": items}}, _LONG | {"type": type_}
        )

    found = check_compatibility(nested("int"), nested("string"))
    assert [str(each) for each in found] == [
        "a[]{}.x: the reader expects int, the writer wrote string",
        "f: the reader expects int, the writer wrote string",
    ]
    assert str(Incompatibility("K", "", "wrong")) == "the schema: wrong"


def test_types_that_contain_themselves_are_compared_once() -> None:
    def linked(value: str) -> Any:
        value_field = {"name": "value", "type": value}
        return _record(value_field, {"name": "next", "type": ["null", "Node"]}, name="Node")

    assert check_compatibility(linked("long"), linked("int")) == ()
    (found,) = check_compatibility(linked("int"), linked("long"))
    assert found.path == "value"
