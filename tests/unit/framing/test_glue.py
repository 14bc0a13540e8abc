"""Glue's frame, held to two that AWS's own serialiser wrote."""

from __future__ import annotations

import random
import struct
import uuid
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import FramingError, TruncatedFrameError, UnknownFramingError
from penstock.framing import (
    Compression,
    CompressionRule,
    Frame,
    FrameKind,
    SchemaKey,
    decode_frame,
    encode_frame,
    encode_glue_frame,
)
from penstock.framing.decode import read_schema_key
from penstock.framing.glue import decode_glue_frame
from penstock.schemas import compile_encoder
from penstock.schemas.codec import compile_decoder

_VERSION = "d3e21a3b-f828-4ef7-a864-ea05cba14f2c"
_KEY = SchemaKey.parse(_VERSION)
_PAYLOAD = bytes.fromhex("0c4575726f7065f6785044de01")
_GOLDEN = {
    False: bytes.fromhex("0300d3e21a3bf8284ef7a864ea05cba14f2c0c4575726f7065f6785044de01"),
    True: bytes.fromhex(
        "0305d3e21a3bf8284ef7a864ea05cba14f2c789ce3712d2dca2f48fd5611e0728f1100236f055e"
    ),
}
_SCHEMA = {
    "type": "record",
    "name": "Value",
    "fields": [
        {"name": "region", "type": "string"},
        {"name": "sales", "type": "float"},
        {"name": "orders", "type": "int"},
    ],
}
_SALES = struct.unpack("<f", struct.pack("<f", 833.89))[0]
_NOISE = random.Random(1).randbytes(1024)
_RECORD = {"region": "Europe", "sales": _SALES, "orders": 111}


@pytest.mark.parametrize(
    ("compress", "compression"), [(False, Compression.NONE), (True, Compression.ZLIB)]
)
def test_opens_what_aws_wrote(compress: bool, compression: Compression) -> None:
    frame = decode_frame(_GOLDEN[compress])

    assert frame == Frame(_KEY, compression, _PAYLOAD)
    assert compile_decoder(_SCHEMA)(frame.payload) == _RECORD


@pytest.mark.parametrize("compress", [False, True])
def test_writes_what_aws_writes(compress: bool) -> None:
    assert encode_glue_frame(_KEY, compile_encoder(_SCHEMA)(_RECORD), compress) == _GOLDEN[compress]


@pytest.mark.parametrize(
    ("payload", "rule", "compression"),
    [
        (b"", CompressionRule(), Compression.NONE),
        (b"a" * 1023, CompressionRule(), Compression.NONE),
        (b"a" * 1024, CompressionRule(), Compression.ZLIB),
        (_NOISE, CompressionRule(), Compression.NONE),
        (_NOISE[:768] + bytes(256), CompressionRule(1, 20), Compression.NONE),  # saves 19.7 %
        (_NOISE[:768] + bytes(256), CompressionRule(1, 19), Compression.ZLIB),
        (b"a" * 30, CompressionRule(30, 25), Compression.ZLIB),
        (b"a" * 30, CompressionRule(31, 25), Compression.NONE),
    ],
)
def test_a_large_payload_that_becomes_much_smaller_is_compressed(
    payload: bytes, rule: CompressionRule, compression: Compression
) -> None:
    value = encode_frame(_KEY, payload, rule)

    assert decode_frame(value) == Frame(_KEY, compression, payload)
    assert len(value) <= 18 + len(payload)


@pytest.mark.parametrize("first", [0, 1, 2, 4, 255])
def test_refuses_a_first_byte_that_is_not_glues(first: int) -> None:
    with pytest.raises(
        UnknownFramingError,
        match=rf"^Glue frame: found 31 bytes \({first:02x} 00 d3 .*\), expected to start with 03$",
    ):
        decode_glue_frame(bytes([first]) + _GOLDEN[False][1:])


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (_GOLDEN[False], _KEY),
        (_GOLDEN[True][:-1], _KEY),  # the zlib stream is cut off
        (_GOLDEN[False][:1] + b"\1" + _GOLDEN[False][2:], _KEY),  # no compression of Glue's
        (_GOLDEN[False][:17], None),
    ],
)
def test_the_key_is_read_whatever_follows_the_header(
    value: bytes, expected: SchemaKey | None
) -> None:
    assert read_schema_key(value) == expected


@pytest.mark.parametrize("length", range(1, 18))
def test_refuses_a_header_cut_at_any_length(length: int) -> None:
    with pytest.raises(
        TruncatedFrameError,
        match=rf"^Glue frame: found {length} bytes \(03.*\), expected a header of 18$",
    ):
        decode_frame(_GOLDEN[False][:length])


@pytest.mark.parametrize("length", range(18, len(_GOLDEN[True])))
def test_refuses_a_zlib_stream_cut_at_any_length(length: int) -> None:
    with pytest.raises(
        TruncatedFrameError,
        match=rf"^Glue frame of schema version {_VERSION}: found a zlib stream cut off after "
        rf"{length - 18} bytes, expected its end$",
    ):
        decode_frame(_GOLDEN[True][:length])


def test_leaves_a_cut_payload_to_the_decoder() -> None:
    frame = decode_frame(_GOLDEN[False][:20])

    assert frame == Frame(_KEY, Compression.NONE, _PAYLOAD[:2])


@pytest.mark.parametrize("byte", [1, 4, 6, 255])
def test_refuses_an_unknown_compression(byte: int) -> None:
    value = bytes([3, byte]) + _GOLDEN[False][2:]

    with pytest.raises(
        UnknownFramingError,
        match=rf"^Glue frame of schema version {_VERSION}: found compression byte 0x{byte:02x} in "
        rf"31 bytes \(03 {byte:02x} d3 e2 1a 3b f8 28 \.\.\.\), "
        r"expected 0x00 \(none\) or 0x05 \(zlib\)$",
    ):
        decode_frame(value)


def test_hides_the_payload_in_its_repr() -> None:
    assert "Europe" not in repr(decode_frame(_GOLDEN[False]))


def test_reads_any_level_of_compression() -> None:
    for level in range(10):
        value = _GOLDEN[True][:18] + zlib.compress(_PAYLOAD, level)

        assert decode_frame(value) == decode_frame(_GOLDEN[True])


@given(st.uuids(), st.binary(max_size=5_000), st.sampled_from([False, True, CompressionRule(1, 1)]))
def test_frames_round_trip(version: uuid.UUID, payload: bytes, how: bool | CompressionRule) -> None:
    key = SchemaKey(FrameKind.GLUE, version.bytes)
    frame = decode_frame(encode_glue_frame(key, payload, how))

    assert frame is not None
    assert (frame.key, frame.payload) == (key, payload)


@given(st.binary(max_size=60))
def test_any_bytes_after_the_magic_byte_are_decoded_or_rejected(rest: bytes) -> None:
    try:
        frame = decode_frame(b"\x03" + rest)
    except FramingError:
        return

    assert frame is not None
    assert frame.key.kind is FrameKind.GLUE
