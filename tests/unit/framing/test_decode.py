"""What is not a frame, and a frame of a kind without a registry."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import FramingError, NoRegistryForFramingError, UnknownFramingError
from penstock.framing import (
    Compression,
    Frame,
    FrameKind,
    Framing,
    SchemaKey,
    decode_frame,
    encode_frame,
)
from penstock.framing.decode import read_schema_key


def test_a_tombstone_has_no_frame() -> None:
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
def test_an_unknown_first_byte_is_rejected(value: bytes, found: str) -> None:
    expected = f"found {found}, expected to start with 03 (Glue), 00 or 01 (Confluent)"

    with pytest.raises(UnknownFramingError, match=f"^{re.escape(expected)}$"):
        decode_frame(value)


_FRAMES = {
    FrameKind.GLUE: encode_frame(SchemaKey(FrameKind.GLUE, bytes(16)), b"payload"),
    FrameKind.CONFLUENT: encode_frame(SchemaKey.parse("confluent:17"), b"payload"),
}


@pytest.mark.parametrize(
    ("kind", "schema"),
    [
        (FrameKind.GLUE, "00000000-0000-0000-0000-000000000000"),
        (FrameKind.CONFLUENT, "confluent:17"),
    ],
)
def test_refuses_a_frame_of_a_kind_without_a_registry(kind: FrameKind, schema: str) -> None:
    (other,) = _FRAMES.keys() - {kind}

    with pytest.raises(
        NoRegistryForFramingError,
        match=rf"^found a frame of {kind} with schema {schema}, expected one of {other}$",
    ):
        decode_frame(_FRAMES[kind], kinds=[other])

    assert str(read_schema_key(_FRAMES[kind], kinds=[other])) == schema


def test_a_header_takes_precedence_over_the_value() -> None:
    headers = [("__value_schema_id", b"\0\0\0\0\x07")]

    assert str(read_schema_key(_FRAMES[FrameKind.GLUE], headers)) == "confluent:7"
    assert read_schema_key(None, headers) is None
    assert read_schema_key(b"{}") is None


def test_a_value_without_a_frame_is_all_payload_of_its_topics_schema() -> None:
    key = SchemaKey.parse("confluent:7")
    framing = Framing(frozenset({FrameKind.CONFLUENT}), {"raw": key})

    for value in (b"payload", b"", _FRAMES[FrameKind.GLUE]):
        assert framing.decode(value, (), "raw") == Frame(key, Compression.NONE, value)
        assert framing.read_key(value, (), "raw") == key
    assert framing.decode(None, (), "raw") is None
    with pytest.raises(UnknownFramingError):
        framing.decode(b"payload", (), "framed")


def test_an_id_in_a_header_comes_before_the_schema_of_a_topic() -> None:
    framing = Framing(unframed={"raw": SchemaKey(FrameKind.GLUE, bytes(16))})
    headers = [("__value_schema_id", b"\0\0\0\0\x07")]

    frame = framing.decode(b"payload", headers, "raw")

    assert frame == Frame(SchemaKey.parse("confluent:7"), Compression.NONE, b"payload")


def test_the_schema_of_a_topic_needs_a_registry_of_its_kind() -> None:
    framing = Framing(frozenset({FrameKind.GLUE}), {"raw": SchemaKey.parse("confluent:7")})

    with pytest.raises(NoRegistryForFramingError, match="schema confluent:7, expected one of glue"):
        framing.decode(b"payload", (), "raw")
    with pytest.raises(
        NoRegistryForFramingError, match="a registry, and PENSTOCK_REGISTRY names n"
    ):
        Framing(frozenset()).decode(b"\0\0\0\0\7payload", (), "t")


@given(st.binary(max_size=60), st.sampled_from([{*FrameKind}, {FrameKind.GLUE}]))
def test_any_bytes_are_decoded_or_rejected_by_name(value: bytes, kinds: set[FrameKind]) -> None:
    try:
        frame = decode_frame(value, kinds=kinds)
    except FramingError:
        return

    assert isinstance(frame, Frame)
    assert frame.key in {read_schema_key(value, kinds=kinds)}
    assert value.endswith(frame.payload) or value[:2] == b"\x03\x05"
