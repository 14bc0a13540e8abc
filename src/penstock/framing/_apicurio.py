"""The frame that Apicurio Registry's own serialisers write with 8-byte ids.

    byte    content
    0       0
    1-8     global id of the schema, big-endian
    9-      the payload

Its first byte is the same as Confluent's, so only a program that has a registry of this kind reads
it. With 4-byte ids (the default since Apicurio 3) the frame is the same as Confluent's.
"""

from __future__ import annotations

from typing import Final

from penstock.errors import TruncatedFrameError, UnknownFramingError
from penstock.framing._describe import describe
from penstock.framing.frame import Compression, Frame
from penstock.framing.key import FrameKind, SchemaKey

_MAGIC: Final = b"\0"
_HEADER_SIZE: Final = 9


def decode_apicurio_frame(value: bytes) -> Frame:
    """Decode the frame of a value that starts with Apicurio's magic byte, 0.

    Raises:
        UnknownFramingError: another first byte, or a schema id below 1.
        TruncatedFrameError: the value is shorter than the header.
    """
    if value[:1] != _MAGIC:
        raise UnknownFramingError(
            f"Apicurio frame: found {describe(value)}, expected to start with 00"
        )
    if len(value) < _HEADER_SIZE:
        raise TruncatedFrameError(
            f"Apicurio frame: found {describe(value)}, expected a header of {_HEADER_SIZE}"
        )
    schema_id = int.from_bytes(value[1:_HEADER_SIZE], signed=True)
    if schema_id < 1:
        raise UnknownFramingError(
            f"Apicurio frame: found schema id {schema_id} in {describe(value)}, expected 1 or more"
        )
    key = SchemaKey(FrameKind.APICURIO, value[1:_HEADER_SIZE])
    return Frame(key, Compression.NONE, value[_HEADER_SIZE:])


def encode_apicurio_frame(key: SchemaKey, payload: bytes) -> bytes:
    """Return the frame of a payload."""
    return _MAGIC + key.id + payload
