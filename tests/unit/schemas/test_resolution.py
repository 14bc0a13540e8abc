"""A writer's bytes into another schema's value: Avro's rules, and nothing rounded."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from penstock.errors import (
    InvalidTextError,
    LossyWideningError,
    SchemaConflictError,
    UndecodablePayloadError,
)
from penstock.schemas import check_compatibility, compile_decoder, decode, encode

_ENUM = {"type": "enum", "name": "E", "symbols": ["A", "B", "C"]}


def _record(*fields: Any, name: str = "R", **more: Any) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": list(fields), **more}


def _field(type_: Any, name: str = "a", **more: Any) -> dict[str, Any]:
    return {"name": name, "type": type_, **more}


def _read(value: Any, writer: Any, reader: Any) -> Any:
    return decode(encode(value, writer), writer, reader)


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
        (_ENUM, "B", _ENUM | {"symbols": ["C", "B"]}, "B"),
        (_ENUM, "A", _ENUM | {"symbols": ["C", "B"], "default": "C"}, "C"),
        (_ENUM | {"name": "x.E"}, "A", _ENUM | {"name": "y.E"}, "A"),
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
def test_promotes_and_matches(writer: Any, value: Any, reader: Any, expected: Any) -> None:
    found = _read(value, writer, reader)

    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("writer", "value", "reader", "expected"),
    [
        # in another order, with one field less and one more
        (
            _record(_field("int"), _field("string", "b"), _field("int", "c")),
            {"a": 1, "b": "gone", "c": 3},
            _record(_field("int", "c"), _field("int", "d", default=4), _field("long")),
            {"c": 3, "d": 4, "a": 1},
        ),
        # by alias
        (
            _record(_field("int", "old")),
            {"old": 1},
            _record(_field("int", aliases=["other", "old"])),
            {"a": 1},
        ),
        # a record of another name, by alias
        (
            _record(_field("int"), name="x.Old"),
            {"a": 1},
            _record(_field("int"), name="x.New", aliases=["Old"]),
            {"a": 1},
        ),
        # the record of a union that has the writer's full name, else its short one
        (
            _record(_field("int"), name="x.R"),
            {"a": 1},
            [_record(_field("string"), name="y.R"), _record(_field("double"), name="x.R")],
            {"a": 1.0},
        ),
        (
            _record(_field("int"), name="x.R"),
            {"a": 1},
            [_record(_field("string"), name="y.R"), _record(_field("double"), name="z.R")],
            {"a": 1.0},
        ),
        # defaults of every kind
        (
            _record(),
            {},
            _record(
                _field(["null", "int"], default=None),
                _field(["int", "null"], "b", default=None),
                _field("bytes", "c", default="\xff"),
                _field("double", "d", default=1),
                _field("float", "e", default=0.1),
                _field({"type": "map", "values": "long"}, "f", default={"k": 1}),
                _field({"type": "fixed", "name": "F", "size": 1}, "g", default="\xff"),
                _field(_ENUM, "h", default="B"),
                _field(_record(_field("int"), _field("int", "b", default=2), name="S"), "i",
                       default={"a": 1}),
                _field({"type": "array", "items": "string"}, "j", default=["x"]),
                _field("boolean", "k", default=True),
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
    found = _read(value, writer, reader)

    assert found == expected
    assert list(found) == list(expected)


@pytest.mark.parametrize(
    ("writer", "value", "reader"),
    [
        ("long", 2**53 + 1, "double"),
        ("long", -(2**53) - 1, "double"),
        ("long", 2**60, "double"),
        ("long", 2**24 + 1, "float"),
        ("int", -(2**24) - 1, "float"),
        (["null", "long"], 2**63 - 1, ["null", "double"]),
    ],
)
def test_refuses_to_round(writer: Any, value: int, reader: Any) -> None:
    schemas = _record(_field(writer)), _record(_field(reader))

    with pytest.raises(
        LossyWideningError,
        match=rf"^a: found {value} at byte \d, which a (double|float) would round, "
        r"expected -\d+ to \d+$",
    ):
        _read({"a": value}, *schemas)


def test_refuses_bytes_that_are_no_text() -> None:
    with pytest.raises(InvalidTextError, match=r"^found 0xff at byte 1, expected UTF-8"):
        _read(b"\xff", "bytes", "string")


@pytest.mark.parametrize(
    ("writer", "reader", "message"),
    [
        ("string", "long", "the schema: the writer has string, the reader long"),
        ("double", "long", "the schema: the writer has double, the reader long"),
        ("long", ["null", "string"], "the schema: the writer has long, the reader string (opt"),
        (_ENUM, _ENUM | {"name": "D"}, "the schema: the writer has enum E [A, B, C], the reader"),
        (
            {"type": "fixed", "name": "F", "size": 1},
            {"type": "fixed", "name": "F", "size": 2},
            "the schema: the writer has fixed F(1), the reader fixed F(2)",
        ),
        (_record(), _record(name="S"), "the schema: the writer has record R, the reader record S"),
        (
            _record(_field({"type": "array", "items": _record(_field("int"), name="S")})),
            _record(_field({"type": "array", "items": _record(_field("string"), name="S")})),
            "a[].a: the writer has int, the reader string",
        ),
        (
            {"type": "map", "values": "int"},
            {"type": "map", "values": "string"},
            "{}: the writer has int, the reader string",
        ),
        (
            _record(),
            _record(_field("int")),
            "a: the writer does not have the field and the reader has no default",
        ),
        (
            _record(_field("int"), _field("int", "b")),
            _record(_field("int", aliases=["b"])),
            "a: the writer's a and b match more than one field",
        ),
        (
            _record(_field("int")),
            _record(_field("int", "b", aliases=["a"]), _field("int", "c", aliases=["a"])),
            "c: the writer's a match more than one field",
        ),
    ],
)
def test_names_the_conflict(writer: Any, reader: Any, message: str) -> None:
    with pytest.raises(SchemaConflictError) as caught:
        compile_decoder(writer, reader)

    assert str(caught.value).startswith(message)
    assert caught.value.path == message.partition(":")[0].removeprefix("the schema")


def test_a_branch_that_the_reader_lacks_is_refused_where_it_comes() -> None:
    writer, reader = _record(_field(["null", "string", "long"])), _record(_field(["null", "long"]))
    assert check_compatibility(reader, writer)

    assert _read({"a": 7}, writer, reader) == {"a": 7}
    with pytest.raises(
        SchemaConflictError,
        match=r"^a: found a value of string, which the reader cannot take "
        r"\(a: the writer has string, the reader long \(optional\)\)$",
    ):
        _read({"a": "x"}, writer, reader)


def test_a_symbol_that_the_reader_lacks_is_refused_where_it_comes() -> None:
    writer, reader = _record(_field(_ENUM)), _record(_field(_ENUM | {"symbols": ["A"]}))

    assert _read({"a": "A"}, writer, reader) == {"a": "A"}
    with pytest.raises(
        SchemaConflictError,
        match=r"^a: symbol B is not among the reader's, which name no default$",
    ):
        _read({"a": "B"}, writer, reader)


def test_a_field_that_the_reader_drops_is_read_all_the_same() -> None:
    writer = _record(_field("string"), _field("int", "b"))

    with pytest.raises(InvalidTextError, match=r"^a: found 0xff at byte 1"):
        decode(b"\x02\xff\x02", writer, _record(_field("int", "b")))


def test_a_type_that_is_used_twice_is_resolved_against_each() -> None:
    pair = [_field(_record(_field("int", "x"), name="S")), _field("S", "b")]
    wide = [_field(_record(_field("long", "x"), name="S")), _field("S", "b")]
    value = {"a": {"x": 1}, "b": {"x": 2}}

    assert _read(value, _record(*pair), _record(*wide)) == value


def test_one_payload_fills_in_no_more_than_a_million_defaults() -> None:
    item = _record(_field("boolean"), name="I")
    grown = item | {"fields": item["fields"] + [
        _field(["null", "int"], f"f{number}", default=None) for number in range(1_000)
    ]}  # fmt: skip
    writer, reader = ({"type": "array", "items": each} for each in (item, grown))
    read = compile_decoder(writer, reader)

    assert len(read(encode([{"a": True}] * 1_000, writer))) == 1_000
    with pytest.raises(
        UndecodablePayloadError,
        match=r"^\[1000\]: reading it fills in more than 1,000,000 default values$",
    ):
        read(encode([{"a": True}] * 1_001, writer))
    assert len(read(encode([{"a": True}] * 1_000, writer))) == 1_000


def test_every_value_of_a_default_counts() -> None:
    item = _record(_field("boolean"), name="I")
    lists = {"type": "array", "items": {"type": "map", "values": "int"}}
    thousand = _field(lists, "b", default=[{"k": 1}] * 499 + [{}])
    writer, reader = (
        {"type": "array", "items": each}
        for each in (item, item | {"fields": [*item["fields"], thousand]})
    )
    read = compile_decoder(writer, reader)

    assert read(encode([{"a": True}] * 1_000, writer))[-1]["b"] == thousand["default"]
    with pytest.raises(UndecodablePayloadError, match=r"^\[1000\]: reading it fills in more than"):
        read(encode([{"a": True}] * 1_001, writer))
