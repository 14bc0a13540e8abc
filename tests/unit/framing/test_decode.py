"""What is no frame at all."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import FramingError, UnknownFramingError
from penstock.framing import Frame, decode_frame


def test_a_tombstone_stays_one() -> None:
    assert decode_frame(None) is None
    assert decode_frame(None, [("__value_schema_id", b"\0\0\0\0\x07")]) is None


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (b"", "no bytes"),
        (b"\xff", "1 bytes (ff)"),
        (b'{"temperature": 30}', "19 bytes (7b 22 74 65 6d 70 65 72 ...)"),
        (b"\xc3\x01" + bytes(8), "10 bytes (c3 01 00 00 00 00 00 00 ...)"),
        (b"Obj\x01", "4 bytes (4f 62 6a 01)"),
    ],
)
def test_refuses_what_starts_like_no_frame(value: bytes, found: str) -> None:
    expected = f"found {found}, expected to start with 03 (Glue), 00 or 01 (Confluent)"

    with pytest.raises(UnknownFramingError, match=f"^{re.escape(expected)}$"):
        decode_frame(value)


@given(st.binary(max_size=60), st.booleans())
def test_any_bytes_are_opened_or_refused(value: bytes, apicurio: bool) -> None:
    try:
        frame = decode_frame(value, apicurio=apicurio)
    except FramingError:
        return

    assert isinstance(frame, Frame)
    assert value.endswith(frame.payload) or value[:2] == b"\x03\x05"
