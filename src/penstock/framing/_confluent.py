"""The frames of Confluent Schema Registry, and of registries that are compatible with it.

    byte    content                                     byte    content
    0       0                                           0       1
    1-4     schema id, big-endian                       1-16    GUID of the schema, big-endian
    5-      the payload                                 17-     the payload

Newer clients write the id to a header of the record, `__value_schema_id` or `__key_schema_id`. The
header holds the same bytes without a payload (in practice the GUID); the value is only the payload.
"""

from __future__ import annotations

from typing import Final

from penstock.errors import CorruptFrameError, TruncatedFrameError, UnknownFramingError
from penstock.framing._describe import describe
from penstock.framing.frame import Compression, Frame
from penstock.framing.key import FrameKind, SchemaKey

_GUID_MAGIC: Final = 1
_HEADER_SIZES: Final = {0: 5, _GUID_MAGIC: 17}


def decode_confluent_frame(value: bytes) -> Frame:
    """Decode the frame of a value that starts with one of Confluent's magic bytes.

    Raises:
        UnknownFramingError: another first byte, or a schema id below 1.
        TruncatedFrameError: the value is shorter than its header.
    """
    if value and value[0] not in _HEADER_SIZES:
        raise UnknownFramingError(
            f"Confluent frame: found {describe(value)}, expected to start with 00 or 01"
        )
    key, size = _read_key(value, "Confluent frame")
    return Frame(key, Compression.NONE, value[size:])


def encode_confluent_frame(key: SchemaKey, payload: bytes) -> bytes:
    """Return the frame of a payload, with the number or the GUID of the key in front."""
    return key.pack() + payload


def decode_confluent_header(name: str, header: bytes, value: bytes) -> Frame:
    """Return the frame of a value that is only the payload, with the schema id from a header.

    Raises:
        TruncatedFrameError: the header is shorter than an id.
        UnknownFramingError: the header does not start with 0 or 1, or holds a schema id below 1.
        CorruptFrameError: bytes follow the id.
    """
    where = f"header {name}"
    if header and header[0] not in _HEADER_SIZES:
        raise UnknownFramingError(
            f"{where}: found {describe(header)}, expected 0x00 and an id or 0x01 and a GUID"
        )
    key, size = _read_key(header, where)
    if len(header) > size:
        raise CorruptFrameError(f"{where}: found {describe(header)}, expected {size}")
    return Frame(key, Compression.NONE, value)


def _read_key(data: bytes, where: str) -> tuple[SchemaKey, int]:
    """Return the schema key at the start of the data, and its size in bytes."""
    size = _HEADER_SIZES[data[0]] if data else min(_HEADER_SIZES.values())
    if len(data) < size:
        raise TruncatedFrameError(f"{where}: found {describe(data)}, expected a header of {size}")
    if data[0] != _GUID_MAGIC and (number := int.from_bytes(data[1:size], signed=True)) < 1:
        raise UnknownFramingError(
            f"{where}: found schema id {number} in {describe(data)}, expected 1 or more"
        )
    return SchemaKey(FrameKind.CONFLUENT, data[1:size]), size
