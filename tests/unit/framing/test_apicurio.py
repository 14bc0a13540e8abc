"""Apicurio's frame with 8-byte ids, which is read only where there is a registry of that kind."""

from __future__ import annotations

import pytest

from penstock.errors import (
    CorruptFrameError,
    FramingError,
    NoRegistryForFramingError,
    TruncatedFrameError,
    UnknownFramingError,
)
from penstock.framing import (
    Compression,
    Frame,
    FrameKind,
    SchemaKey,
    decode_frame,
    encode_frame,
    read_schema_key,
)
from penstock.framing._apicurio import decode_apicurio_frame

_VALUE = bytes.fromhex("00" + "000000000000000f") + b"payload"
_KEY = SchemaKey(FrameKind.APICURIO, _VALUE[1:9])
_KINDS = {FrameKind.APICURIO, FrameKind.GLUE}


def test_opens_an_8_byte_id() -> None:
    frame = decode_frame(_VALUE, kinds=_KINDS)

    assert frame == Frame(_KEY, Compression.NONE, b"payload")
    assert encode_frame(_KEY, b"payload") == _VALUE


def test_refuses_a_first_byte_that_is_not_apicurios() -> None:
    with pytest.raises(
        UnknownFramingError,
        match=r"^Apicurio frame: found 18 bytes \(03 .*\), expected to start with 00$",
    ):
        decode_apicurio_frame(b"\3" + bytes(17))


def test_other_frames_are_read_too() -> None:
    value = b"\x03\x00" + bytes(16) + b"payload"

    assert decode_frame(value, kinds=_KINDS) == decode_frame(value)


def test_without_apicurio_an_8_byte_id_is_read_as_confluents() -> None:
    with pytest.raises(UnknownFramingError, match="an 8-byte id of Apicurio is read only"):
        decode_frame(_VALUE)


@pytest.mark.parametrize("length", range(1, 9))
def test_refuses_an_id_cut_at_any_length(length: int) -> None:
    with pytest.raises(
        TruncatedFrameError,
        match=rf"^Apicurio frame: found {length} bytes \(00.*\), expected a header of 9$",
    ):
        decode_frame(_VALUE[:length], kinds=_KINDS)


@pytest.mark.parametrize(("number", "text"), [("00" * 8, "0"), ("ff" * 8, "-1")])
def test_an_id_below_1_is_rejected(number: str, text: str) -> None:
    with pytest.raises(
        UnknownFramingError,
        match=rf"^Apicurio frame: found schema id {text} in 9 bytes \(.*\), expected 1 or more$",
    ):
        decode_frame(bytes.fromhex("00" + number), kinds=_KINDS)


def test_an_id_in_a_header_is_read() -> None:
    headers = [("apicurio.value.globalId", _KEY.id), ("apicurio.key.globalId", b"\0" * 7 + b"\7")]

    assert decode_frame(b"payload", headers, kinds=_KINDS) == Frame(
        _KEY, Compression.NONE, b"payload"
    )
    key = decode_frame(b"key", headers, is_key=True, kinds=_KINDS)
    assert key is not None
    assert str(key.key) == "apicurio:7"
    assert read_schema_key(b"payload", headers, kinds=_KINDS) == _KEY


def test_a_header_without_a_registry_says_so_and_one_with_a_registry_comes_first() -> None:
    headers = [("apicurio.value.globalId", _KEY.id), ("__value_schema_id", b"\0\0\0\0\7")]

    with pytest.raises(NoRegistryForFramingError, match="a frame of apicurio with schema apicurio"):
        decode_frame(b"payload", headers[:1], kinds=[FrameKind.GLUE])
    assert str(read_schema_key(b"payload", headers)) == "confluent:7"
    assert str(read_schema_key(b"payload", headers, kinds=_KINDS)) == "apicurio:15"


@pytest.mark.parametrize(
    ("header", "error", "message"),
    [
        (b"", TruncatedFrameError, "found no bytes, expected 8"),
        (b"\0" * 7, TruncatedFrameError, r"found 7 bytes \(.*\), expected 8"),
        (b"\0" * 8, UnknownFramingError, r"found schema id 0 in 8 bytes \(.*\), expected 1 or m"),
        (b"\0" * 7 + b"\1x", CorruptFrameError, r"found 9 bytes \(.*\), expected 8"),
    ],
)
def test_a_header_that_is_no_id_is_rejected(
    header: bytes, error: type[FramingError], message: str
) -> None:
    with pytest.raises(error, match=f"^header apicurio.value.globalId: {message}"):
        decode_frame(b"payload", [("apicurio.value.globalId", header)], kinds=_KINDS)
