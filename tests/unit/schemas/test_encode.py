"""Values to bytes: each exactly, or refused with the path of the field."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable
from io import BytesIO
from typing import Any

import fastavro
import pytest

from penstock.errors import UnencodableValueError
from penstock.schemas import compile_encoder, compile_fitter, decode, encode
from tests.oracle.generate import Maker

_ENUM = {"type": "enum", "name": "E", "symbols": ["A", "B"]}
_FIXED = {"type": "fixed", "name": "F", "size": 2}
_RECORD = {
    "type": "record",
    "name": "R",
    "fields": [
        {"name": "a", "type": "long"},
        {"name": "b", "type": ["null", "string"], "default": None},
        {"name": "c", "type": {"type": "array", "items": "int"}, "default": [1]},
    ],
}


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        ("null", None, ""),
        ("boolean", True, "01"),
        ("boolean", False, "00"),
        ("int", -1, "01"),
        ("int", 2**31 - 1, "feffffff0f"),
        ("long", -(2**63), "ffffffffffffffffff01"),
        ("long", 64, "8001"),
        ("float", 1.5, "0000c03f"),
        ("double", 1.5, "000000000000f83f"),
        ("double", 3, "0000000000000840"),
        ("string", "é€", "0ac3a9e282ac"),
        ("bytes", b"\xff", "02ff"),
        (_FIXED, b"\x01\x02", "0102"),
        (_ENUM, "B", "02"),
        ({"type": "array", "items": "int"}, [1, -2], "04020300"),
        ({"type": "array", "items": "int"}, [], "00"),
        ({"type": "map", "values": "int"}, {"k": 1}, "02026b0200"),
        (["null", "int"], None, "00"),
        (["null", "int"], 7, "020e"),
        (_RECORD, {"a": 1, "b": "x", "c": []}, "02020278" + "00"),
        (_RECORD, {"a": 1}, "0200" + "020200"),
    ],
)
def test_writes_the_bytes_of_the_specification(schema: Any, value: Any, expected: str) -> None:
    assert encode(value, schema).hex() == expected


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        (["double", "long"], 7, "020e"),  # a whole number stays one where it can
        (["int", "long"], 2**40, "02808080808040"),
        (["float", "double"], 0.1, "02" + "9a9999999999b93f"),  # and no digit is lost
        (["long", "double"], 0.5, "02000000000000e03f"),
        (["bytes", _FIXED], b"ab", "026162"),
        (["bytes", _FIXED], b"abc", "0006616263"),
        (["string", _ENUM], "A", "0200"),
        (["string", _ENUM], "C", "000243"),
        ([{"type": "map", "values": "string"}, _RECORD], {"a": 7, "c": []}, "020e0000"),
        ([{"type": "map", "values": "string"}, _RECORD], {"k": "v"}, "0002026b027600"),
        (["string", {"type": "array", "items": "int"}], [1], "02020200"),
        (["string", _ENUM], ("string", "A"), "000241"),
        (["int", "long"], ("long", 7), "020e"),
        ([{"type": "map", "values": "int"}, _RECORD], ("map", {"a": 7}), "000202610e00"),
    ],
)
def test_chooses_the_branch_that_carries_the_value(schema: Any, value: Any, expected: str) -> None:
    assert encode(value, schema).hex() == expected


@pytest.mark.parametrize(
    ("schema", "value", "message"),
    [
        ("null", 0, "found 0, expected null"),
        ("boolean", 1, "found 1, expected a boolean"),
        ("int", 2**31, "found 2147483648, expected int: a whole number from -2147483648 to"),
        ("int", True, "found True, expected int: a whole number from"),
        ("long", 30.5, "found 30.5, expected long: a whole number from -9223372036854775808 to"),
        ("long", 30.0, "found 30.0, expected long: a whole number from"),
        ("long", "30", "found '30', expected long: a whole number from"),
        ("long", None, "found None, expected long: a whole number from"),
        ("long", 2**63, "found 9223372036854775808, expected long: a whole number from"),
        ("double", math.nan, "found nan, expected double: a finite number, if whole from"),
        ("double", -math.inf, "found -inf, expected double: a finite number"),
        ("double", 2**53 + 1, "found 9007199254740993, expected double: a finite number, if whole"),
        ("double", True, "found True, expected double: a finite number"),
        ("float", 2**24 + 1, "found 16777217, expected float: a finite number, if whole from -167"),
        ("float", 1e39, "found 1e+39, expected float: a finite number"),
        ("string", b"x", "found b'x', expected a string"),
        ("string", "\ud800", r"found '\ud800', expected a string without lone surrogates"),
        ("bytes", "x", "found 'x', expected bytes"),
        (_FIXED, b"x", "found b'x', expected 2 bytes"),
        (_FIXED, "xy", "found 'xy', expected 2 bytes"),
        (_ENUM, "C", "found 'C', expected one of A, B"),
        (_ENUM, 0, "found 0, expected one of A, B"),
        ({"type": "array", "items": "int"}, (1,), "found (1,), expected a list"),
        ({"type": "array", "items": "int"}, [1, "2"], "[1]: found '2', expected int"),
        ({"type": "map", "values": "int"}, [], "found [], expected a dict"),
        ({"type": "map", "values": "int"}, {"k": "v"}, "['k']: found 'v', expected int"),
        ({"type": "map", "values": "int"}, {7: 8}, "[7]: found 7, expected a string"),
        (["null", "int"], "7", "found '7', expected int (optional)"),
        (["int", "long"], 2**63, "found 9223372036854775808, expected long: a whole number"),
        (_RECORD, [], "found [], expected a dict"),
        (_RECORD, {"a": 1, "x": 2, 3: 4}, "found fields the schema lacks: 'x', 3"),
        (_RECORD, {"b": "x"}, "found no value and no default for a"),
        (_RECORD, {"a": 1, "b": 2}, "b: found 2, expected string (optional)"),
        (_RECORD, {"a": 1, "c": [1, 2, None]}, "c[2]: found None, expected int"),
    ],
)
def test_a_value_outside_its_type_is_rejected(schema: Any, value: Any, message: str) -> None:
    with pytest.raises(UnencodableValueError, match=f"^{re.escape(message)}"):
        encode(value, schema)


def test_an_error_has_the_path_of_a_nested_field() -> None:
    outer = {"type": "map", "values": {"type": "array", "items": _RECORD}}

    with pytest.raises(UnencodableValueError) as caught:
        encode({"k": [{"a": 1}, {"a": "x"}]}, outer)

    assert caught.value.path == "['k'][1].a"


def test_a_long_value_is_shortened_in_the_message() -> None:
    with pytest.raises(UnencodableValueError) as caught:
        encode("x" * 100_000, "long")

    assert len(str(caught.value)) < 200


def test_encoding_does_not_change_the_value() -> None:
    value = {"a": 1}

    compile_encoder(_RECORD)(value)

    assert value == {"a": 1}


def test_writes_what_fastavro_writes(
    seeded: random.Random, trials: Callable[[int, int], int]
) -> None:
    maker = Maker(seeded)
    for _ in range(trials(300, 20_000)):
        schema = maker.record()
        value = maker.value(schema)
        expected = BytesIO()
        fastavro.schemaless_writer(expected, schema, value)

        payload = encode(value, schema)

        assert payload == expected.getvalue(), (schema, value)
        assert decode(payload, schema) == value


@pytest.mark.parametrize("schema", ["long", "double", "string", ["null", "long"]])
def test_a_number_of_more_than_4300_digits_is_rejected(schema: Any) -> None:
    with pytest.raises(UnencodableValueError, match=r"^found a whole number of 16,610 bits, exp"):
        encode(10**5_000, schema)


def test_a_default_is_written_as_the_branch_of_its_union() -> None:
    fixed = {"type": "fixed", "name": "F", "size": 2}
    field = {"name": "a", "type": ["bytes", fixed], "default": "ab"}
    schema = {"type": "record", "name": "R", "fields": [field]}

    assert encode({}, schema) == b"\x00\x04ab"
    assert compile_fitter(schema)({}, {}) == {"a": ("bytes", b"ab")}
