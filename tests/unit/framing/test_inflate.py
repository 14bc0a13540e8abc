"""Compressed payloads that mean harm: bombs, streams cut off, streams with company."""

from __future__ import annotations

import subprocess
import sys
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import CorruptFrameError, InflateLimitError, RecordTooLargeError
from penstock.framing import CompressionRule, SchemaKey, decode_frame, encode_glue_frame, glue

_VERSION = "00000000-0000-0000-0000-000000000001"
_HEAD = bytes.fromhex("0305" + _VERSION.replace("-", ""))
_KEY = SchemaKey.parse(_VERSION)
_WHERE = f"^Glue frame of schema version {_VERSION}: "

# Runs in a process of its own, which prints how much opening the value made its peak memory grow.
_CHILD = """
import sys
from pathlib import Path
from penstock.errors import PenstockError
from penstock.framing import decode_frame

def peak():
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])

value = sys.stdin.buffer.read()
Path("/proc/self/clear_refs").write_text("5")  # the peak is reset
before = peak()
try:
    decode_frame(value)
except PenstockError as error:
    print(type(error).__name__, peak() - before)
"""


def _bomb(mebibytes: int) -> bytes:
    """Make a valid zlib stream of so many MiB of zeros, a kilobyte for each."""
    deflate = zlib.compressobj()
    first = deflate.compress(bytes(2**20)) + deflate.flush(zlib.Z_FULL_FLUSH)
    again = deflate.compress(bytes(2**20)) + deflate.flush(zlib.Z_FULL_FLUSH)
    checksum = (mebibytes * 2**20 % 65521 << 16) | 1  # Adler-32 of zeros
    return first + again * (mebibytes - 1) + b"\x03\x00" + checksum.to_bytes(4)


def _open_in_child(value: bytes) -> tuple[str, int]:
    """Give the name of the error and by how many KiB the peak of the memory grew."""
    child = subprocess.run(
        [sys.executable, "-c", _CHILD], input=value, capture_output=True, timeout=90, check=True
    )
    error, growth = child.stdout.split()
    return error.decode(), int(growth)


def test_the_bomb_is_a_valid_stream() -> None:
    assert zlib.decompress(_bomb(16)) == bytes(16 * 2**20)


def test_a_bomb_of_a_gibibyte_is_rejected_in_bounded_memory() -> None:
    bomb = _HEAD + _bomb(1024)
    assert len(bomb) < 1.1 * 2**20

    error, growth_kib = _open_in_child(bomb)

    assert error == "InflateLimitError"
    assert growth_kib < 64 * 1024


@pytest.mark.parametrize("cut", [1, 1000, 500_000])
def test_a_truncated_stream_is_rejected(cut: int) -> None:
    noise = b"".join(zlib.crc32(bytes([i % 256, i // 256])).to_bytes(4) for i in range(2**16)) * 4

    error, _ = _open_in_child(_HEAD + zlib.compress(noise)[:-cut])

    assert error == "TruncatedFrameError"


def test_a_payload_beyond_the_limit_is_rejected() -> None:
    with pytest.raises(
        InflateLimitError,
        match=_WHERE + r"found 66,\d{3} compressed bytes that become more than 8,388,608, "
        "expected at most that$",
    ):
        decode_frame(_HEAD + _bomb(64))


@pytest.mark.parametrize("size", [0, 1, 100])
def test_a_payload_of_exactly_the_limit_is_accepted(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(glue, "_MAX_PAYLOAD_BYTES", size)

    frame = decode_frame(_HEAD + zlib.compress(bytes(size)))

    assert frame is not None
    assert frame.payload == bytes(size)
    with pytest.raises(InflateLimitError):
        decode_frame(_HEAD + zlib.compress(bytes(size + 1)))


@pytest.mark.parametrize("size", [2**20 + 1, 8 * 2**20])
def test_a_payload_may_have_any_ratio(size: int) -> None:
    frame = decode_frame(_HEAD + zlib.compress(b"." * size, 9))

    assert frame is not None
    assert frame.payload == b"." * size


def test_a_payload_that_no_reader_would_inflate_is_not_compressed() -> None:
    payload = bytes(8 * 2**20 + 1)

    with pytest.raises(RecordTooLargeError, match=r"of 8,388,609 bytes, expected at most 8,388,60"):
        encode_glue_frame(_KEY, payload, compress=True)

    assert encode_glue_frame(_KEY, payload).endswith(payload)


@given(st.binary(max_size=64), st.integers(0, 400))
def test_every_payload_that_is_encoded_is_decoded(part: bytes, times: int) -> None:
    payload = part * times
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(glue, "_MAX_PAYLOAD_BYTES", 10_000)
        for compress in (False, True, CompressionRule()):
            try:
                value = encode_glue_frame(_KEY, payload, compress)
            except RecordTooLargeError as error:
                assert compress
                assert str(error) == (
                    f"found a payload of {len(payload):,} bytes, expected at most 10,000"
                )
                assert len(payload) > 10_000
                continue
            frame = decode_frame(value)
            assert frame is not None
            assert frame.payload == payload


@pytest.mark.parametrize("rest", [b"x", zlib.compress(b"a second stream")])
def test_refuses_bytes_after_the_end_of_the_stream(rest: bytes) -> None:
    with pytest.raises(
        CorruptFrameError,
        match=_WHERE + f"found {len(rest)} bytes after the end of the zlib stream, expected none$",
    ):
        decode_frame(_HEAD + zlib.compress(b"payload") + rest)


@pytest.mark.parametrize(
    ("stream", "why"),
    [
        (b"payload", "incorrect header check"),
        (zlib.compress(b"payload")[:-1] + b"\xff", "incorrect data check"),
        (zlib.compress(b"payload")[:2] + b"\xff" * 20, "invalid block type"),
    ],
)
def test_bytes_that_are_not_a_zlib_stream_are_rejected(stream: bytes, why: str) -> None:
    with pytest.raises(CorruptFrameError, match=_WHERE + rf"found no zlib stream \(.*{why}.*\)$"):
        decode_frame(_HEAD + stream)


def test_a_stream_inside_a_stream_is_inflated_once() -> None:
    inner = zlib.compress(b"payload")

    frame = decode_frame(_HEAD + zlib.compress(inner))

    assert frame is not None
    assert frame.payload == inner
