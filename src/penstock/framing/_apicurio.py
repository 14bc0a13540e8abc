"""The frame that Apicurio Registry's own serialisers write with 8-byte ids.

    byte    content
    0       0
    1-8     global id of the schema, big-endian
    9-      the payload

Its first byte is the same as Confluent's, so only a program that has a registry of this kind reads
it. With 4-byte ids (the default since Apicurio 3) the frame is the same as Confluent's.

With `apicurio.registry.headers.enabled` the id is in a header of the record, without the first
byte: `apicurio.value.globalId` or `apicurio.key.globalId`. The value is only the payload.
"""

from __future__ import annotations

from typing import Final

from penstock.errors import CorruptFrameError, TruncatedFrameError, UnknownFramingError
from penstock.framing._describe import describe
from penstock.framing.frame import Compression, Frame
from penstock.framing.key import FrameKind, SchemaKey

_MAGIC: Final = b"\0"
_ID_SIZE: Final = 8
_HEADER_SIZE: Final = 1 + _ID_SIZE


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
    key = _read_key(value[1:_HEADER_SIZE], "Apicurio frame", value)
    return Frame(key, Compression.NONE, value[_HEADER_SIZE:])


def decode_apicurio_header(name: str, header: bytes, value: bytes) -> Frame:
    """Return the frame of a value that is only the payload, with the global id from a header.

    Raises:
        TruncatedFrameError: the header is shorter than an id.
        UnknownFramingError: the schema id is below 1.
        CorruptFrameError: bytes follow the id.
    """
    if len(header) < _ID_SIZE:
        raise TruncatedFrameError(f"header {name}: found {describe(header)}, expected {_ID_SIZE}")
    key = _read_key(header[:_ID_SIZE], f"header {name}", header)
    if len(header) > _ID_SIZE:
        raise CorruptFrameError(f"header {name}: found {describe(header)}, expected {_ID_SIZE}")
    return Frame(key, Compression.NONE, value)


def encode_apicurio_frame(key: SchemaKey, payload: bytes) -> bytes:
    """Return the frame of a payload."""
    return _MAGIC + key.id + payload


def _read_key(number: bytes, where: str, data: bytes) -> SchemaKey:
    schema_id = int.from_bytes(number, signed=True)
    if schema_id < 1:
        raise UnknownFramingError(
            f"{where}: found schema id {schema_id} in {describe(data)}, expected 1 or more"
        )
    return SchemaKey(FrameKind.APICURIO, number)
