"""Schemas from outside: the valid ones, the wrong ones, and those that mean harm."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from penstock.errors import InvalidSchemaError, RecursiveSchemaError, SchemaLimitError
from penstock.schemas import check_schema, load_schema
from penstock.schemas._json_values import MAX_DEPTH

_AT_THE_ROOT = "the schema: "
_BAD_NAME = "expected a name of ASCII letters, digits and _ that starts with no digit"


def _record(*fields: Any, name: str = "R", **more: Any) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": list(fields), **more}


def _field(type_: Any, name: str = "a", **more: Any) -> dict[str, Any]:
    return {"name": name, "type": type_, **more}


def _nested(depth: int) -> Any:
    schema: Any = "long"
    for _ in range(depth):
        schema = {"type": "array", "items": schema}
    return schema


@pytest.mark.parametrize(
    "schema",
    [
        "string",
        {"type": "string"},
        {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2},
        {"type": "int", "logicalType": ["nonsense"]},
        ["null", "long", {"type": "array", "items": "long"}],
        _record(),
        _record(_field("null"), _field(_record(name="S"), "b"), _field("S", "c")),
        _record(_field(_record(name="x.S")), _field("x.S", "b"), namespace="y"),
        _record(_field(_record(name="S")), _field("y.S", "b"), _field("S", "c"), namespace="y"),
        _record(_field({"type": "fixed", "name": "long", "size": 0}), namespace="y"),
        _record(_field({"type": "enum", "name": "E", "symbols": []}), namespace=""),
        _record(_field({"type": "enum", "name": "E", "symbols": ["A"], "default": "A"})),
        _record(_field("int", aliases=["b"], doc="d", order="ignore"), aliases=["x.Q"]),
        {"type": "map", "values": "null"},
        {"type": "map", "values": _record()},
        {"type": "array", "items": ["null", _record()]},
        _nested(MAX_DEPTH),
    ],
)
def test_takes_what_is_valid(schema: Any) -> None:
    check_schema(schema)

    assert load_schema(json.dumps(schema)) == schema


def test_a_name_without_a_space_is_also_looked_for_outside() -> None:
    inner = _record(_field("Plain", "b"), name="S", namespace="x")

    check_schema(_record(_field({"type": "fixed", "name": "Plain", "size": 1}), _field(inner, "c")))


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
        ([_nested(1), _nested(2)], "found 'array', expected each type once in a union"),
        ([_record(), {"type": "R"}], "found 'R', expected each type once in a union"),
        ({"type": "array"}, "found {'type': 'array'}, expected `items`"),
        ({"type": "map"}, "found {'type': 'map'}, expected `values`"),
        ({"type": "record", "name": "R"}, "found None, expected `fields` to be a list"),
        (_record(name="1st"), f"found '1st', {_BAD_NAME}"),
        (_record(name="naïve"), f"found 'naïve', {_BAD_NAME}"),
        (_record(name="a..b"), f"found 'a..b', {_BAD_NAME}"),
        (_record(name=["R"]), f"found ['R'], {_BAD_NAME}"),
        (_record(namespace="a-b"), f"found 'a-b', {_BAD_NAME}"),
        (_record(namespace=None), f"found None, {_BAD_NAME}"),
        (_record(name="int"), "found 'int', expected a name that is neither taken nor a primitive"),
        (_record(aliases="Q"), "found 'Q', expected `aliases` to be a list"),
        (_record(aliases=["1st"]), f"found '1st', {_BAD_NAME}"),
        (_record("a"), "found 'a', expected a field to be an object"),
        (_record({"type": "int"}), f"found None, {_BAD_NAME}"),
        (_record(_field("int", "x.y")), f"found 'x.y', {_BAD_NAME}"),
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
def test_says_what_is_wrong(schema: Any, message: str) -> None:
    with pytest.raises(InvalidSchemaError) as caught:
        check_schema(schema)

    assert str(caught.value).startswith(_AT_THE_ROOT + message)


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ({"name": "a"}, "a: found {'name': 'a'}, expected `type`"),
        (_field("int", aliases=[7]), f"a: found 7, {_BAD_NAME}"),
        (
            _field(_nested(2) | {"items": "x"}),
            "a[]: found 'x', expected a primitive type or a name",
        ),
        (_field({"type": "map", "values": 7}), "a{}: found 7, expected a type's name, an object"),
        (_field(_record(_field("x", "b"), name="S")), "a.b: found 'x', expected a primitive type"),
        (_field(_record()), "a: found 'R', expected a name that is neither taken nor a primitive"),
    ],
)
def test_says_where_it_is_wrong(field: Any, message: str) -> None:
    with pytest.raises(InvalidSchemaError) as caught:
        check_schema(_record(field))

    assert str(caught.value).startswith(message)


def test_refuses_a_field_name_that_comes_twice() -> None:
    with pytest.raises(InvalidSchemaError, match=r"^a: found 'a', expected each field name once"):
        check_schema(_record(_field("int"), _field("long")))


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
        (_record(_field("int", "b"), name="S"), {}, "record S"),
        (_record(_field("int", "b"), name="S"), {"b": "x"}, "record S"),
    ],
)
def test_refuses_a_default_that_its_type_cannot_hold(
    type_: Any, default: Any, expected: str
) -> None:
    with pytest.raises(InvalidSchemaError) as caught:
        check_schema(_record(_field(type_, default=default)))

    assert str(caught.value).startswith("a: found default ")
    assert str(caught.value).endswith(f", expected a value of {expected}")


def test_refuses_a_type_that_contains_itself() -> None:
    for inner in ("R", ["null", "R"], {"type": "array", "items": "x.R"}, {"type": "R"}):
        with pytest.raises(
            RecursiveSchemaError,
            match=r"^a(\[\])?: type 'x.R' contains itself, expected one that does not$",
        ):
            check_schema(_record(_field(inner), namespace="x"))


@pytest.mark.parametrize(
    ("item", "label"),
    [
        ("null", "array of null"),
        (_record(), "array of record R"),
        (_record(_field("int"), _field("null", "b")), "array of record R"),
        (["int", _record(_field("null"))], "array of int or record R"),
        ({"type": "fixed", "name": "F", "size": 0}, "array of fixed F"),
    ],
)
def test_refuses_items_that_take_no_bytes(item: Any, label: str) -> None:
    with pytest.raises(InvalidSchemaError) as caught:
        check_schema(_record(_field({"type": "array", "items": item}), name="Outer"))

    assert str(caught.value) == (
        f"a: found {label} with values that take no bytes, "
        "expected each value inside an array or a map to take one"
    )


def test_refuses_a_map_of_records_with_values_that_take_no_bytes() -> None:
    with pytest.raises(InvalidSchemaError, match=r"^the schema: found map of record R with values"):
        check_schema({"type": "map", "values": _record(_field("null"))})


def test_refuses_a_huge_fixed() -> None:
    with pytest.raises(
        SchemaLimitError,
        match=r"^the schema: a fixed of 2,000,000,000 bytes, expected at most 1,048,576$",
    ):
        check_schema({"type": "fixed", "name": "F", "size": 2_000_000_000})


def test_refuses_a_long_definition() -> None:
    schema = {"type": "int", "doc": "x" * 170_000}

    for refuse in (lambda: check_schema(schema), lambda: load_schema(json.dumps(schema))):
        with pytest.raises(
            SchemaLimitError,
            match=r"^the definition has 170,0\d\d characters, expected at most 170,000$",
        ):
            refuse()


def test_refuses_too_much_depth() -> None:
    named: Any = _record(_field(_nested(MAX_DEPTH - 2)), name="S")

    for schema, path in [
        (_nested(MAX_DEPTH + 1), r"(\[\]){33}"),
        (_record(_field(named), _field({"type": "array", "items": "S"}, "b")), "the schema"),
    ]:
        with pytest.raises(
            SchemaLimitError,
            match=rf"^{path}: expected at most {MAX_DEPTH} records, arrays and maps inside one",
        ):
            check_schema(schema)


def test_a_long_path_is_cut_in_the_message() -> None:
    schema: Any = "int"
    for number in range(MAX_DEPTH + 1):
        schema = _record(_field(schema, "a" * 50), name=f"R{number}")

    with pytest.raises(SchemaLimitError) as caught:
        check_schema(schema)

    assert len(str(caught.value)) < 300


def _doubling(levels: int) -> dict[str, Any]:
    """Make a short schema whose fields double with every level once its names are written out."""
    schema = _record(_field("int"), name="R0")
    for level in range(1, levels):
        schema = _record(_field(schema), _field(f"R{level - 1}", "b"), name=f"R{level}")
    return schema


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        (13, r"^the schema: 12,286 fields, expected at most 10,000$"),
        (30, r"^written out without references the schema has more than 100,000 types$"),
    ],
)
def test_refuses_fields_that_names_multiply(levels: int, message: str) -> None:
    check_schema(_doubling(12))

    with pytest.raises(SchemaLimitError, match=message):
        check_schema(_doubling(levels))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"the definition is not JSON: Expecting value: line 1 column 1 \(char 0\)"),
        ("string", r"the definition is not JSON: Expecting value: line 1 column 1 \(char 0\)"),
        ('{"type": "int", "x": NaN}', "the definition is not JSON: NaN is no JSON number"),
        ("1" * 5_000, "the definition is not JSON: Exceeds the limit .*"),
        ("[" * 100_000, "the definition nests too deep to be read as JSON"),
        ('{"type":' * 20_000, "the definition nests too deep to be read as JSON"),
    ],
)
def test_refuses_text_that_is_no_json(text: str, message: str) -> None:
    with pytest.raises(InvalidSchemaError, match=rf"^{message}$"):
        load_schema(text)


def test_refuses_values_that_are_no_json() -> None:
    circle: list[Any] = []
    circle.append(circle)
    deep: Any = "int"
    for _ in range(100_000):
        deep = [deep]

    for value, message in [
        (circle, "the schema is no JSON value: Circular reference detected"),
        (deep, "the schema is no JSON value: maximum recursion depth exceeded"),
        ({"type": "int", "x": b""}, "the schema is no JSON value: Object of type bytes is not"),
        ({"type": "int", "x": float("inf")}, "the schema is no JSON value: Out of range float"),
        ({"type": "int", 7: 8}, "the schema holds tuples or keys that are not text, expected JSON"),
        (("int",), "the schema holds tuples or keys that are not text, expected JSON"),
    ]:
        with pytest.raises(InvalidSchemaError) as caught:
            check_schema(value)
        assert str(caught.value).startswith(message)


_HARM = """
import sys
from penstock.errors import SchemaError
from penstock.schemas import load_schema

for text in ("[" * 169_999, '{"type":' * 20_000, '{"type":"array","items":' * 7_000):
    for end in ("", '"int"' + "}" * 7_000):
        try:
            load_schema(text + end)
        except SchemaError as error:
            print(type(error).__name__)
"""


def test_no_text_takes_the_process_down() -> None:
    child = subprocess.run(
        [sys.executable, "-c", _HARM], capture_output=True, timeout=20, check=True, text=True
    )

    assert len(child.stdout.split()) == 6
    assert set(child.stdout.split()) == {"InvalidSchemaError", "SchemaLimitError"}


def test_a_union_of_too_many_types_is_refused() -> None:
    branches = [{"type": "fixed", "name": f"F{i}", "size": 1} for i in range(257)]
    check_schema(branches[:256])

    with pytest.raises(SchemaLimitError) as caught:
        check_schema(branches)

    assert str(caught.value) == "the schema: a union of 257 types, expected at most 256"


def test_defaults_that_take_too_many_tries_are_refused() -> None:
    branches = [{"type": "fixed", "name": f"F{i}", "size": 9} for i in range(99)]
    listed = _record(_field({"type": "array", "items": [*branches, "string"]}, "x"), name="L")
    default = {"x": ["y"] * 1_000}
    check_schema(_record(_field(listed, default=default)))

    with pytest.raises(
        SchemaLimitError,
        match=r"^the defaults of the schema take more than 200,000 tries of a type for a value, "
        "expected fewer values or smaller unions$",
    ):
        check_schema(_record(_field(listed, default=default), _field("L", "b", default=default)))
