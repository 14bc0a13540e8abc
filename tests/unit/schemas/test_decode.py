"""Bytes to values, and what each kind of damage is called."""

from __future__ import annotations

import math
import re
import struct
from typing import Any

import pytest

from penstock.errors import (
    InvalidTextError,
    PayloadError,
    RecursiveSchemaError,
    TrailingBytesError,
    TruncatedPayloadError,
    UndecodablePayloadError,
)
from penstock.schemas import decode, encode
from penstock.schemas.codec import compile_decoder

_ENUM = {"type": "enum", "name": "E", "symbols": ["A", "B"]}
_FIXED = {"type": "fixed", "name": "F", "size": 2}
_ARRAY = {"type": "array", "items": "int"}
_MAP = {"type": "map", "values": "int"}
_RECORD = {
    "type": "record",
    "name": "R",
    "fields": [
        {"name": "a", "type": {"type": "array", "items": ["null", "string"]}},
        {"name": "b", "type": "double"},
    ],
}


@pytest.mark.parametrize(
    ("schema", "payload", "expected"),
    [
        ("int", "8000", 0),  # longer than it must be, as Java accepts too
        ("long", "ffffffffffffffffff01", -(2**63)),
        (_ARRAY, "0202040406" + "00", [1, 2, 3]),  # two blocks
        (_ARRAY, "03040406" + "00", [2, 3]),  # a block that says its size
        (_MAP, "04026b02026b0400", {"k": 2}),
        (["null", "int"], "820014", 10),
    ],
)
def test_reads_every_spelling(schema: Any, payload: str, expected: Any) -> None:
    assert decode(bytes.fromhex(payload), schema) == expected


@pytest.mark.parametrize("value", [math.nan, math.inf, -0.0])
def test_reads_every_double_as_it_is(value: float) -> None:
    found = decode(struct.pack("<d", value), "double")

    assert struct.pack("<d", found) == struct.pack("<d", value)


@pytest.mark.parametrize(
    ("schema", "payload", "error", "message"),
    [
        ("int", "", TruncatedPayloadError, "the payload ends inside this value"),
        ("long", "80", TruncatedPayloadError, "the payload ends inside this value"),
        ("double", "00" * 7, TruncatedPayloadError, "the payload ends inside this value"),
        (
            "boolean",
            "02",
            UndecodablePayloadError,
            "found 0x02 at byte 0, expected a boolean of 0x",
        ),
        (
            "int",
            "8080808010",
            UndecodablePayloadError,
            "found varint 8080808010 at byte 0, expected one of 32 bits",
        ),
        (
            "int",
            "8080808080",
            UndecodablePayloadError,
            "found varint 8080808080 at byte 0, expected one of 32 bits",
        ),
        (
            "long",
            "80" * 9 + "02",
            UndecodablePayloadError,
            "found varint " + "80" * 9 + "02 at byte 0, expected one of 64",
        ),
        (
            "long",
            "80" * 9 + "80",
            UndecodablePayloadError,
            "found varint " + "80" * 10 + " at byte 0, expected one of 64",
        ),
        ("string", "01", UndecodablePayloadError, "found length -1 at byte 1, expected 0 or more"),
        ("bytes", "0461", TruncatedPayloadError, "claims 2 bytes at byte 1, where 1 are left"),
        (
            "string",
            "80d0acf30e",
            TruncatedPayloadError,
            "claims 2,000,000,000 bytes at byte 5, where 0 are left",
        ),
        (
            "string",
            "0661ff62",
            InvalidTextError,
            "found 0xff at byte 2, expected UTF-8 (invalid start byte)",
        ),
        (
            "string",
            "06eda080",
            InvalidTextError,
            "found 0xed at byte 1, expected UTF-8 (invalid continuation byte)",
        ),
        (_FIXED, "61", TruncatedPayloadError, "claims 2 bytes at byte 0, where 1 are left"),
        (_ENUM, "04", UndecodablePayloadError, "found symbol number 2 at byte 0, expected 0 to 1"),
        (_ENUM, "01", UndecodablePayloadError, "found symbol number -1 at byte 0, expected 0 to 1"),
        (
            ["null", "int"],
            "0402",
            UndecodablePayloadError,
            "found branch number 2 at byte 0, expected 0 to 1",
        ),
        (
            ["null", "int"],
            "01",
            UndecodablePayloadError,
            "found branch number -1 at byte 0, expected 0 to 1",
        ),
        (_ARRAY, "0602", TruncatedPayloadError, "claims 3 items at byte 1, where 1 bytes are left"),
        (_ARRAY, "80888efaba01" + "00", TruncatedPayloadError, "claims 25,"),
        (
            _ARRAY,
            "ffffffffffffffffff0100",
            TruncatedPayloadError,
            "claims 9,223,372,036,854,775,808 items",
        ),
        (
            _ARRAY,
            "0306040600",
            UndecodablePayloadError,
            "found block that ends at byte 4 at byte 4, expected one that ends at 5, as it says",
        ),
        (_ARRAY, "0301040600", UndecodablePayloadError, "found block that ends at byte 4"),
        (_ARRAY, "02" + "80", TruncatedPayloadError, "[0]: the payload ends inside this value"),
        (_ARRAY, "0202", TruncatedPayloadError, "the payload ends inside this value"),
        (_MAP, "02026bff", TruncatedPayloadError, "[0]: the payload ends inside this value"),
        (
            _RECORD,
            "0400020a61",
            TruncatedPayloadError,
            "a[1]: claims 5 bytes at byte 4, where 1 are left",
        ),
        (_RECORD, "00" + "00" * 7, TruncatedPayloadError, "b: the payload ends inside this value"),
    ],
)
def test_damaged_bytes_are_rejected_with_the_reason(
    schema: Any, payload: str, error: type[PayloadError], message: str
) -> None:
    with pytest.raises(PayloadError) as caught:
        decode(bytes.fromhex(payload), schema)

    assert type(caught.value) is error
    assert str(caught.value).startswith(message)


def test_the_error_has_the_path_as_an_attribute() -> None:
    with pytest.raises(TruncatedPayloadError) as caught:
        decode(bytes.fromhex("0400020a61"), _RECORD)

    assert caught.value.path == "a[1]"


@pytest.mark.parametrize(
    ("payload", "found", "end"), [("0200", "1", 1), ("02" + "00" * 2000, "2,000", 1)]
)
def test_refuses_bytes_after_the_value(payload: str, found: str, end: int) -> None:
    expected = f"found {found} bytes after the value, which ends at byte {end}"

    with pytest.raises(TrailingBytesError, match=f"^{re.escape(expected)}$"):
        decode(bytes.fromhex(payload), "int")


def test_a_union_of_many_types_has_branch_numbers_of_two_bytes() -> None:
    union = [{"type": "fixed", "name": f"F{size}", "size": size} for size in range(1, 101)]

    for size in (1, 64, 65, 100):
        value = bytes(size)
        assert decode(encode(value, union), union) == value


def test_refuses_to_follow_a_recursive_schema() -> None:
    schema = {"type": "record", "name": "R", "fields": [{"name": "a", "type": ["null", "R"]}]}

    with pytest.raises(RecursiveSchemaError, match=r"^a: type 'R' contains itself"):
        decode(b"\x02" * 10_000, schema)


def test_does_not_interpret_logical_types() -> None:
    decimal = {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2}
    timestamp = {"type": "long", "logicalType": "timestamp-micros"}

    assert decode(b"\x02\x7b", decimal) == b"\x7b"
    assert decode(encode(2**62, timestamp), timestamp) == 2**62


def test_defaults_are_copied_for_each_record() -> None:
    writer = {"type": "record", "name": "R", "fields": []}
    field = {"name": "a", "type": {"type": "array", "items": "int"}, "default": [1]}
    read = compile_decoder(writer, writer | {"fields": [field]})

    read(b"")["a"].append(2)

    assert read(b"") == {"a": [1]}
