"""Apicurio's frame with 8-byte ids, which is read only where there is a registry of that kind."""

from __future__ import annotations

import pytest

from penstock.errors import TruncatedFrameError, UnknownFramingError
from penstock.framing import (
    Compression,
    Frame,
    FrameKind,
    SchemaKey,
    decode_frame,
    encode_frame,
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
