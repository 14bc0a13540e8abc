"""The frame of AWS Glue Schema Registry, as AWS's serialisers write it.

    byte    content
    0       3, the version of this frame
    1       compression of the payload: 0 none, 5 zlib
    2-17    UUID of the schema version that wrote the payload, most significant byte first
    18-     the payload: Avro's binary encoding, or a zlib stream (RFC 1950) of it

Only the payload is compressed. The UUID identifies one schema version in a region, so a reader
needs neither the schema's name nor the version's number.
"""

from __future__ import annotations

import zlib
from typing import Final

from penstock.errors import (
    CorruptFrameError,
    InflateLimitError,
    RecordTooLargeError,
    TruncatedFrameError,
    UnknownFramingError,
)
from penstock.framing._describe import describe
from penstock.framing.frame import Compression, CompressionRule, Frame
from penstock.framing.key import FrameKind, SchemaKey

_MAGIC: Final = 3
_HEADER_SIZE: Final = 18
# The largest payload that is compressed, and that is inflated: more than an event of 6 MB, Lambda's
# largest, takes. At any ratio, since the values that a payload becomes are bounded too.
_MAX_PAYLOAD_BYTES: Final = 8 * 2**20

_COMPRESSION_BYTES: Final = {0: Compression.NONE, 5: Compression.ZLIB}
_PLAIN: Final = bytes([_MAGIC, 0])
_ZLIB: Final = bytes([_MAGIC, 5])


def encode_glue_frame(
    key: SchemaKey, payload: bytes, compress: bool | CompressionRule = False
) -> bytes:
    """Return the frame of a payload: plain, compressed, or compressed where a rule says so.

    Raises:
        RecordTooLargeError: the payload is to be compressed, and no reader would inflate it.
    """
    rule = compress if isinstance(compress, CompressionRule) else None
    if not compress or (rule and len(payload) < rule.min_bytes):
        return _PLAIN + key.id + payload
    if len(payload) > _MAX_PAYLOAD_BYTES:
        raise RecordTooLargeError(
            f"found a payload of {len(payload):,} bytes, expected at most {_MAX_PAYLOAD_BYTES:,}"
        )
    compressed = zlib.compress(payload)
    if rule and 100 * (len(payload) - len(compressed)) < rule.min_saving * len(payload):
        return _PLAIN + key.id + payload
    return _ZLIB + key.id + compressed


def read_glue_key(value: bytes) -> SchemaKey:
    """Return the key of the schema version in the header of a value.

    Raises:
        UnknownFramingError: the value does not start with Glue's magic byte.
        TruncatedFrameError: the value is shorter than the header.
    """
    if value[:1] != _PLAIN[:1]:
        raise UnknownFramingError(
            f"Glue frame: found {describe(value)}, expected to start with {_MAGIC:02x}"
        )
    if len(value) < _HEADER_SIZE:
        raise TruncatedFrameError(
            f"Glue frame: found {describe(value)}, expected a header of {_HEADER_SIZE}"
        )
    return SchemaKey(FrameKind.GLUE, value[2:_HEADER_SIZE])


def decode_glue_frame(value: bytes) -> Frame:
    """Decode the frame of a value that starts with Glue's magic byte.

    Raises:
        UnknownFramingError: another first byte, or a compression that Glue does not have.
        TruncatedFrameError: the value is shorter than the header, or the zlib stream is cut off.
        CorruptFrameError: the payload is not a zlib stream, or bytes follow its end.
        InflateLimitError: the decompressed payload would be too large.
    """
    key = read_glue_key(value)
    compression = _COMPRESSION_BYTES.get(value[1])
    payload = value[_HEADER_SIZE:]
    if compression is None:
        raise UnknownFramingError(
            f"{_of(key)}: found compression byte "
            f"0x{value[1]:02x} in {describe(value)}, expected 0x00 (none) or 0x05 (zlib)"
        )
    if compression is Compression.ZLIB:
        payload = _inflate(payload, key)
    return Frame(key, compression, payload)


def _inflate(data: bytes, key: SchemaKey) -> bytes:
    """Inflate exactly one zlib stream; at most one byte more than the limit is decompressed."""
    stream = zlib.decompressobj()
    try:
        inflated = stream.decompress(data, _MAX_PAYLOAD_BYTES + 1)
    except zlib.error as error:
        raise CorruptFrameError(f"{_of(key)}: found no zlib stream ({error})") from None
    if len(inflated) > _MAX_PAYLOAD_BYTES:
        raise InflateLimitError(
            f"{_of(key)}: found {len(data):,} compressed bytes that become more than "
            f"{_MAX_PAYLOAD_BYTES:,}, expected at most that"
        )
    if not stream.eof:
        raise TruncatedFrameError(
            f"{_of(key)}: found a zlib stream cut off after {len(data):,} bytes, expected its end"
        )
    if stream.unused_data:
        raise CorruptFrameError(
            f"{_of(key)}: found {len(stream.unused_data):,} bytes after the end of the zlib stream,"
            " expected none"
        )
    return inflated


def _of(key: SchemaKey) -> str:
    return f"Glue frame of schema version {key}"
