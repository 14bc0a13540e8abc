"""Confluent's frames: an id or a GUID before the payload, or in a header of the record."""

from __future__ import annotations

import pytest

from penstock.errors import CorruptFrameError, TruncatedFrameError, UnknownFramingError
from penstock.framing import (
    Compression,
    Frame,
    SchemaKey,
    decode_frame,
    encode_frame,
)
from penstock.framing._confluent import decode_confluent_frame

_GUID = "89791762-2336-4186-9674-299b90a802e2"
_GUID_BYTES = bytes.fromhex("8979176223364186" + "9674299b90a802e2")
_PAYLOAD = b"\x02payload"


def _frame(schema_id: str | int) -> Frame:
    return Frame(SchemaKey.parse(f"confluent:{schema_id}"), Compression.NONE, _PAYLOAD)


@pytest.mark.parametrize(
    ("head", "schema_id"),
    [
        ("0000000001", 1),
        ("00000186a3", 100_003),
        ("007fffffff", 2**31 - 1),
        ("01" + _GUID_BYTES.hex(), _GUID),
    ],
)
def test_opens_an_id_and_a_guid(head: str, schema_id: str | int) -> None:
    value = bytes.fromhex(head) + _PAYLOAD

    assert decode_frame(value) == _frame(schema_id)
    assert encode_frame(_frame(schema_id).key, _PAYLOAD) == value


def test_refuses_a_first_byte_that_is_not_confluents() -> None:
    with pytest.raises(
        UnknownFramingError,
        match=r"^Confluent frame: found 18 bytes \(03 .*\), expected to start with 00 or 01$",
    ):
        decode_confluent_frame(b"\3" + bytes(17))


@pytest.mark.parametrize("length", range(1, 5))
def test_refuses_an_id_cut_at_any_length(length: int) -> None:
    with pytest.raises(
        TruncatedFrameError,
        match=rf"^Confluent frame: found {length} bytes \(00.*\), expected a header of 5$",
    ):
        decode_frame(bytes(length))


@pytest.mark.parametrize("length", range(1, 17))
def test_refuses_a_guid_cut_at_any_length(length: int) -> None:
    with pytest.raises(
        TruncatedFrameError,
        match=rf"^Confluent frame: found {length} bytes \(01.*\), expected a header of 17$",
    ):
        decode_frame((b"\x01" + _GUID_BYTES)[:length])


@pytest.mark.parametrize(("head", "number"), [("0080000000", -(2**31)), ("00ffffffff", -1)])
def test_an_id_below_1_is_rejected(head: str, number: int) -> None:
    with pytest.raises(
        UnknownFramingError,
        match=rf"^Confluent frame: found schema id {number} in 13 bytes \(.*\), expected 1 or mo",
    ):
        decode_frame(bytes.fromhex(head) + _PAYLOAD)


@pytest.mark.parametrize(
    ("header", "schema_id"), [(b"\x01" + _GUID_BYTES, _GUID), (b"\0\0\0\0\x07", 7)]
)
def test_takes_the_id_from_the_header_of_the_value(header: bytes, schema_id: str | int) -> None:
    headers = [("trace", b"x"), ("__value_schema_id", header), ("__key_schema_id", b"\x63")]

    assert decode_frame(_PAYLOAD, headers) == _frame(schema_id)


def test_takes_the_id_of_a_key_from_its_own_header() -> None:
    headers = [("__value_schema_id", b"\x63"), ("__key_schema_id", b"\x01" + _GUID_BYTES)]

    assert decode_frame(_PAYLOAD, headers, is_key=True) == _frame(_GUID)


def test_takes_the_last_of_two_headers() -> None:
    headers = [("__value_schema_id", b"\0\0\0\0\x06"), ("__value_schema_id", b"\0\0\0\0\x07")]

    assert decode_frame(_PAYLOAD, headers) == _frame(7)


def test_the_header_takes_precedence_over_the_magic_byte() -> None:
    value = b"\x03\x00" + bytes(16)

    frame = decode_frame(value, [("__value_schema_id", b"\0\0\0\0\x07")])

    assert frame == Frame(SchemaKey.parse("confluent:7"), Compression.NONE, value)


@pytest.mark.parametrize("header", [b"", None])
def test_refuses_an_empty_header(header: bytes | None) -> None:
    with pytest.raises(
        TruncatedFrameError,
        match=r"^header __value_schema_id: found no bytes, expected a header of 5$",
    ):
        decode_frame(_PAYLOAD, [("__value_schema_id", header)])


def test_refuses_a_cut_header() -> None:
    with pytest.raises(
        TruncatedFrameError,
        match=r"^header __value_schema_id: found 3 bytes \(01 89 79\), expected a header of 17$",
    ):
        decode_frame(_PAYLOAD, [("__value_schema_id", b"\x01" + _GUID_BYTES[:2])])


def test_a_header_without_an_id_is_rejected() -> None:
    with pytest.raises(
        UnknownFramingError,
        match=r"^header __value_schema_id: found 3 bytes \(61 62 63\), "
        "expected 0x00 and an id or 0x01 and a GUID$",
    ):
        decode_frame(_PAYLOAD, [("__value_schema_id", b"abc")])


def test_refuses_bytes_after_the_id_in_a_header() -> None:
    with pytest.raises(
        CorruptFrameError,
        match=r"^header __value_schema_id: found 6 bytes \(00 00 00 00 07 63\), expected 5$",
    ):
        decode_frame(_PAYLOAD, [("__value_schema_id", b"\0\0\0\0\x07\x63")])
