"""A writer's bytes into another schema's value: Avro's rules."""

from __future__ import annotations

import json
import struct
from typing import Any

import pytest

from penstock.errors import InvalidTextError
from penstock.schemas import decode, decode_event, encode, merge_schemas
from tests.unit.schemas.writing import ENUM, field, read, record


@pytest.mark.parametrize(
    ("writer", "value", "reader", "expected"),
    [
        ("int", 7, "long", 7),
        ("int", 2**24, "float", 2.0**24),
        ("int", 2**31 - 1, "double", 2.0**31 - 1),
        ("long", -(2**24), "float", -(2.0**24)),
        ("long", 2**53, "double", 2.0**53),
        ("float", 0.5, "double", 0.5),
        ("string", "é", "bytes", b"\xc3\xa9"),
        ("bytes", b"\xc3\xa9", "string", "é"),
        ("int", 7, ["null", "double", "long"], 7),
        ("long", 2**40, ["null", "float", "double"], 2.0**40),
        ("string", "x", ["null", "bytes"], b"x"),
        (["null", "long"], 7, "double", 7.0),
        (["null", "long"], 7, ["string", "double", "null"], 7.0),
        (["null", "long"], None, ["string", "null"], None),
        (ENUM, "B", ENUM | {"symbols": ["C", "B"]}, "B"),
        (ENUM, "A", ENUM | {"symbols": ["C", "B"], "default": "C"}, "C"),
        (ENUM | {"name": "x.E"}, "A", ENUM | {"name": "y.E"}, "A"),
        ({"type": "array", "items": "int"}, [1], {"type": "array", "items": "double"}, [1.0]),
        ({"type": "map", "values": "int"}, {"k": 1}, {"type": "map", "values": "long"}, {"k": 1}),
        (
            {"type": "fixed", "name": "x.Old", "size": 1},
            b"x",
            {"type": "fixed", "name": "New", "size": 1, "aliases": ["x.Old"]},
            b"x",
        ),
    ],
)
def test_types_that_resolve(writer: Any, value: Any, reader: Any, expected: Any) -> None:
    found = read(value, writer, reader)

    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("writer", "value", "reader", "expected"),
    [
        # in another order, with one field less and one more
        (
            record(field("int"), field("string", "b"), field("int", "c")),
            {"a": 1, "b": "gone", "c": 3},
            record(field("int", "c"), field("int", "d", default=4), field("long")),
            {"c": 3, "d": 4, "a": 1},
        ),
        # by alias
        (
            record(field("int", "old")),
            {"old": 1},
            record(field("int", aliases=["other", "old"])),
            {"a": 1},
        ),
        # a record of another name, by alias
        (
            record(field("int"), name="x.Old"),
            {"a": 1},
            record(field("int"), name="x.New", aliases=["Old"]),
            {"a": 1},
        ),
        # the record of a union that has the writer's full name, else its short one
        (
            record(field("int"), name="x.R"),
            {"a": 1},
            [record(field("string"), name="y.R"), record(field("double"), name="x.R")],
            {"a": 1.0},
        ),
        (
            record(field("int"), name="x.R"),
            {"a": 1},
            [record(field("string"), name="y.R"), record(field("double"), name="z.R")],
            {"a": 1.0},
        ),
        # defaults of every kind
        (
            record(),
            {},
            record(
                field(["null", "int"], default=None),
                field(["int", "null"], "b", default=None),
                field("bytes", "c", default="\xff"),
                field("double", "d", default=1),
                field("float", "e", default=0.1),
                field({"type": "map", "values": "long"}, "f", default={"k": 1}),
                field({"type": "fixed", "name": "F", "size": 1}, "g", default="\xff"),
                field(ENUM, "h", default="B"),
                field(record(field("int"), field("int", "b", default=2), name="S"), "i",
                       default={"a": 1}),
                field({"type": "array", "items": "string"}, "j", default=["x"]),
                field("boolean", "k", default=True),
            ),
            {
                "a": None, "b": None, "c": b"\xff", "d": 1.0,
                "e": struct.unpack("<f", struct.pack("<f", 0.1))[0],
                "f": {"k": 1}, "g": b"\xff", "h": "B", "i": {"a": 1, "b": 2}, "j": ["x"], "k": True,
            },
        ),
    ],
)  # fmt: skip
def test_resolves_records(writer: Any, value: Any, reader: Any, expected: Any) -> None:
    found = read(value, writer, reader)

    assert found == expected
    assert list(found) == list(expected)


def test_a_field_that_the_reader_drops_is_still_checked() -> None:
    writer = record(field("string"), field("int", "b"))

    with pytest.raises(InvalidTextError, match=r"^a: found 0xff at byte 1"):
        decode(b"\x02\xff\x02", writer, record(field("int", "b")))


def test_a_type_that_is_used_twice_is_resolved_against_each() -> None:
    pair = [field(record(field("int", "x"), name="S")), field("S", "b")]
    wide = [field(record(field("long", "x"), name="S")), field("S", "b")]
    value = {"a": {"x": 1}, "b": {"x": 2}}

    assert read(value, record(*pair), record(*wide)) == value


_TEMP = field(["null", "double"], "temp", default=None)
_CELSIUS = field(["null", "double"], "celsius", default=None, aliases=["temp"])


def test_a_version_with_a_field_and_its_alias_beside_it_is_read_by_its_own_schema() -> None:
    schema = record(_CELSIUS, _TEMP)
    value = {"celsius": 20.5, "temp": 68.9}

    assert read(value, schema, None) == value
    assert read(value, schema, json.loads(json.dumps(schema))) == value
    assert decode_event(encode(value, schema), schema) == value
    merged = merge_schemas([record(_TEMP), record(_CELSIUS), schema])
    assert read(value, schema, merged) == value


def test_an_alias_that_is_the_fields_own_name_changes_nothing() -> None:
    reader = record(field("long", "a", aliases=["a"]), field("long", "b", default=7))

    assert read({"a": 1}, record(field("int", "a")), reader) == {"a": 1, "b": 7}
