"""Apicurio's frame with 8-byte ids, which is read only where the caller says so."""

from __future__ import annotations

import pytest

from penstock.errors import TruncatedFrameError, UnknownFramingError
from penstock.framing import Compression, Frame, FrameKind, decode_frame

_VALUE = bytes.fromhex("00" + "000000000000000f") + b"payload"


def test_opens_an_8_byte_id_when_told() -> None:
    frame = decode_frame(_VALUE, apicurio=True)

    assert frame == Frame(FrameKind.APICURIO, 15, Compression.NONE, b"payload")


def test_reads_other_frames_all_the_same() -> None:
    value = b"\x03\x00" + bytes(16) + b"payload"

    assert decode_frame(value, apicurio=True) == decode_frame(value)


def test_is_not_taken_for_confluents_unless_told() -> None:
    with pytest.raises(UnknownFramingError, match="say so with apicurio=True"):
        decode_frame(_VALUE)


@pytest.mark.parametrize("length", range(1, 9))
def test_refuses_an_id_cut_at_any_length(length: int) -> None:
    with pytest.raises(
        TruncatedFrameError,
        match=rf"^Apicurio frame: found {length} bytes \(00.*\), expected a header of 9$",
    ):
        decode_frame(_VALUE[:length], apicurio=True)


@pytest.mark.parametrize(("number", "text"), [("00" * 8, "0"), ("ff" * 8, "-1")])
def test_refuses_an_id_that_no_registry_gives_out(number: str, text: str) -> None:
    with pytest.raises(
        UnknownFramingError,
        match=rf"^Apicurio frame: found schema id {text} in 9 bytes \(.*\), expected 1 or more$",
    ):
        decode_frame(bytes.fromhex("00" + number), apicurio=True)
