"""Schemas from outside: the valid ones, and what is wrong with the others."""

from __future__ import annotations

import json
from typing import Any

import pytest

from penstock.errors import InvalidSchemaError, RecursiveSchemaError, SchemaLimitError
from penstock.schemas import check_schema, load_schema
from penstock.schemas._json import MAX_DEPTH
from tests.unit.schemas.writing import field, nested, record

_AT_THE_ROOT = "the schema: "
_BAD_NAME = "expected a name of ASCII letters, digits and _ that does not start with a digit"


@pytest.mark.parametrize(
    "schema",
    [
        "string",
        {"type": "string"},
        {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2},
        {"type": "int", "logicalType": ["nonsense"]},
        ["null", "long", {"type": "array", "items": "long"}],
        record(),
        record(field("null"), field(record(name="S"), "b"), field("S", "c")),
        record(field(record(name="x.S")), field("x.S", "b"), namespace="y"),
        record(field(record(name="S")), field("y.S", "b"), field("S", "c"), namespace="y"),
        record(field({"type": "fixed", "name": "long", "size": 0}), namespace="y"),
        record(field({"type": "enum", "name": "E", "symbols": []}), namespace=""),
        record(field({"type": "enum", "name": "E", "symbols": ["A"], "default": "A"})),
        record(field("int", aliases=["b"], doc="d", order="ignore"), aliases=["x.Q"]),
        {"type": "map", "values": "null"},
        {"type": "map", "values": record()},
        {"type": "array", "items": ["null", record()]},
        nested(MAX_DEPTH),
    ],
)
def test_valid_schemas_are_accepted(schema: Any) -> None:
    check_schema(schema)

    assert load_schema(json.dumps(schema)) == schema


def test_a_name_without_a_space_is_also_looked_for_outside() -> None:
    inner = record(field("Plain", "b"), name="S", namespace="x")

    check_schema(record(field({"type": "fixed", "name": "Plain", "size": 1}), field(inner, "c")))


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (None, "found None, expected a type's name, an object or a list"),
        (7, "found 7, expected a type's name, an object or a list"),
        ("strng", "found 'strng', expected a primitive type or a name defined before"),
        ({"type": "strng"}, "found 'strng', expected a primitive type or a name defined before"),
        ({}, "found None, expected `type` to be the name of a type"),
        ({"type": {"type": "int"}}, "found {'type': 'int'}, expected `type` to be the name of"),
        ([], "found [], expected a union of at least one type"),
        (["int", ["null"]], "found ['null'], expected no union directly inside a union"),
        (["int", "null", "int"], "found 'int', expected each type once in a union"),
        (["int", {"type": "int"}], "found 'int', expected each type once in a union"),
        ([nested(1), nested(2)], "found 'array', expected each type once in a union"),
        ([record(), {"type": "R"}], "found 'R', expected each type once in a union"),
        ({"type": "array"}, "found {'type': 'array'}, expected `items`"),
        ({"type": "map"}, "found {'type': 'map'}, expected `values`"),
        ({"type": "record", "name": "R"}, "found None, expected `fields` to be a list"),
        (record(name="1st"), f"found '1st', {_BAD_NAME}"),
        (record(name="naïve"), f"found 'naïve', {_BAD_NAME}"),
        (record(name="a..b"), f"found 'a..b', {_BAD_NAME}"),
        (record(name=["R"]), f"found ['R'], {_BAD_NAME}"),
        (record(namespace="a-b"), f"found 'a-b', {_BAD_NAME}"),
        (record(namespace=None), f"found None, {_BAD_NAME}"),
        (
            record(name="int"),
            "found 'int', expected a name that is neither defined already nor a primitive",
        ),
        (record(aliases="Q"), "found 'Q', expected `aliases` to be a list"),
        (record(aliases=["1st"]), f"found '1st', {_BAD_NAME}"),
        (record("a"), "found 'a', expected a field to be an object"),
        (record({"type": "int"}), f"found None, {_BAD_NAME}"),
        (record(field("int", "x.y")), f"found 'x.y', {_BAD_NAME}"),
        ({"type": "enum", "name": "E"}, "found None, expected `symbols` to be a list"),
        ({"type": "enum", "name": "E", "symbols": ["A", "-"]}, f"found '-', {_BAD_NAME}"),
        (
            {"type": "enum", "name": "E", "symbols": ["A", "A"]},
            "found ['A', 'A'], expected each symbol once in an enum",
        ),
        (
            {"type": "enum", "name": "E", "symbols": ["A"], "default": "B"},
            "found 'B', expected the default to be one of the enum's symbols",
        ),
        ({"type": "fixed", "name": "F"}, "found {'name': 'F', 'type': 'fixed'}, expected `size`"),
        ({"type": "fixed", "name": "F", "size": -1}, "found -1, expected the size of a fixed"),
        ({"type": "fixed", "name": "F", "size": True}, "found True, expected the size of a fixed"),
        ({"type": "fixed", "name": "F", "size": 2.5}, "found 2.5, expected the size of a fixed"),
    ],
)
def test_an_invalid_schema_is_rejected_with_the_reason(schema: Any, message: str) -> None:
    with pytest.raises(InvalidSchemaError) as caught:
        check_schema(schema)

    assert str(caught.value).startswith(_AT_THE_ROOT + message)


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ({"name": "a"}, "a: found {'name': 'a'}, expected `type`"),
        (field("int", aliases=[7]), f"a: found 7, {_BAD_NAME}"),
        (
            field(nested(2) | {"items": "x"}),
            "a[]: found 'x', expected a primitive type or a name",
        ),
        (field({"type": "map", "values": 7}), "a{}: found 7, expected a type's name, an object"),
        (field(record(field("x", "b"), name="S")), "a.b: found 'x', expected a primitive type"),
        (
            field(record()),
            "a: found 'R', expected a name that is neither defined already nor a primitive",
        ),
    ],
)
def test_an_invalid_schema_is_rejected_with_the_path(field: Any, message: str) -> None:
    with pytest.raises(InvalidSchemaError) as caught:
        check_schema(record(field))

    assert str(caught.value).startswith(message)


def test_refuses_a_field_name_that_comes_twice() -> None:
    with pytest.raises(InvalidSchemaError, match=r"^a: found 'a', expected each field name once"):
        check_schema(record(field("int"), field("long")))


@pytest.mark.parametrize(
    ("type_", "default", "expected"),
    [
        ("int", 2**31, "int"),
        ("int", True, "int"),
        ("int", 1.5, "int"),
        ("long", "7", "long"),
        ("double", 2**53 + 1, "double"),
        ("double", "NaN", "double"),
        ("float", 1e300, "float"),
        ("boolean", 0, "boolean"),
        ("string", None, "string"),
        ("string", "\ud800", "string"),
        ("bytes", "€", "bytes"),
        (["null", "long"], "null", "long (optional)"),
        ({"type": "fixed", "name": "F", "size": 2}, "a", "fixed F(2)"),
        ({"type": "enum", "name": "E", "symbols": ["A"]}, "B", "enum E [A]"),
        ({"type": "array", "items": "int"}, {}, "array of int"),
        ({"type": "array", "items": "int"}, ["a"], "array of int"),
        ({"type": "map", "values": "int"}, {"k": None}, "map of int"),
        (record(field("int", "b"), name="S"), {}, "record S"),
        (record(field("int", "b"), name="S"), {"b": "x"}, "record S"),
    ],
)
def test_refuses_a_default_that_its_type_cannot_hold(
    type_: Any, default: Any, expected: str
) -> None:
    with pytest.raises(InvalidSchemaError) as caught:
        check_schema(record(field(type_, default=default)))

    assert str(caught.value).startswith("a: found default ")
    assert str(caught.value).endswith(f", expected a value of {expected}")


def test_refuses_attributes_nested_too_deeply() -> None:
    attribute: Any = []
    for _ in range(700):
        attribute = [attribute]
    with pytest.raises(SchemaLimitError, match="expected at most 160 objects and lists inside"):
        load_schema(json.dumps(record(field("int")) | {"note": attribute}))


def test_refuses_a_type_that_contains_itself() -> None:
    for inner in ("R", ["null", "R"], {"type": "array", "items": "x.R"}, {"type": "R"}):
        with pytest.raises(
            RecursiveSchemaError,
            match=r"^a(\[\])?: type 'x.R' contains itself, expected one that does not$",
        ):
            check_schema(record(field(inner), namespace="x"))


@pytest.mark.parametrize(
    ("item", "label"),
    [
        ("null", "array of null"),
        (record(), "array of record R"),
        (record(field("int"), field("null", "b")), "array of record R"),
        (["int", record(field("null"))], "array of int or record R"),
        ({"type": "fixed", "name": "F", "size": 0}, "array of fixed F"),
    ],
)
def test_refuses_items_that_take_no_bytes(item: Any, label: str) -> None:
    with pytest.raises(InvalidSchemaError) as caught:
        check_schema(record(field({"type": "array", "items": item}), name="Outer"))

    assert str(caught.value) == (
        f"a: found {label} with values that take no bytes, "
        "expected each value inside an array or a map to take one"
    )


def test_refuses_a_map_of_records_with_values_that_take_no_bytes() -> None:
    with pytest.raises(InvalidSchemaError, match=r"^the schema: found map of record R with values"):
        check_schema({"type": "map", "values": record(field("null"))})


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            [field("long", jsonName="t"), field("long", "t")],
            "t: found 't', expected each JSON name once",
        ),
        (
            [field("long", jsonName="-"), field("long", "b", jsonName="-")],
            "b: found '-', expected each JSON name once in a record",
        ),
        ([field("long", jsonName=7)], "a: found 7, expected `jsonName` to be a string"),
        (
            [field("long", jsonName="t\udfff")],
            r"a: found 't\udfff', expected `jsonName` to be a string without lone surrogates",
        ),
    ],
)
def test_the_json_names_of_a_record_are_strings_and_differ(fields: Any, message: str) -> None:
    with pytest.raises(InvalidSchemaError) as caught:
        check_schema(record(*fields))
    assert str(caught.value).startswith(message)

    check_schema(record(field("long", jsonName="b"), field("long", "b", jsonName="a")))
