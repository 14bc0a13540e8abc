"""The frame and the headers that Apicurio Registry's own serialisers write.

    byte    content
    0       0
    1-8     global id of the schema, big-endian
    9-      the payload

Its first byte is the same as Confluent's, but the four bytes after it are 0 in Apicurio's frame
alone: Confluent's ids begin at 1, and no registry has 4 billion global ids. With 4-byte ids (the
default since Apicurio 3) the frame is the same as Confluent's.

With `apicurio.registry.headers.enabled` the value is only the payload, and headers of the record
have 8 bytes of an id without the first byte, and the encoding:

    apicurio.value.globalId     the global id
    apicurio.value.contentId    the content id, which is the id in Apicurio's Confluent API
    apicurio.value.encoding     BINARY, or JSON, which is not read
"""

from __future__ import annotations

from typing import Final

from penstock.errors import TruncatedFrameError, UnknownFramingError
from penstock.framing._describe import describe
from penstock.framing.frame import Compression, Frame
from penstock.framing.key import FrameKind, SchemaKey

_MAGIC: Final = b"\0"
_ID_SIZE: Final = 8
_HEADER_SIZE: Final = 1 + _ID_SIZE
_START: Final = bytes(5)  # the magic byte, and the higher half of a global id
_CONTENT_ID_SIZE: Final = 4
_BINARY: Final = b"BINARY"


def is_apicurio_frame(value: bytes) -> bool:
    """Return whether a value starts like a frame of Apicurio and of no other kind."""
    return value.startswith(_START)


def decode_apicurio_frame(value: bytes) -> Frame:
    """Decode the frame of a value that starts as Apicurio's does.

    Raises:
        UnknownFramingError: the schema id is 0.
        TruncatedFrameError: the value is shorter than the header.
    """
    if len(value) < _HEADER_SIZE:
        raise TruncatedFrameError(
            f"Apicurio frame: found {describe(value)}, expected a header of {_HEADER_SIZE}"
        )
    number = value[1:_HEADER_SIZE]
    if not any(number):
        raise UnknownFramingError(
            f"Apicurio frame: found schema id 0 in {describe(value)}, expected 1 or more"
        )
    key = SchemaKey(FrameKind.APICURIO, number)
    return Frame(key, Compression.NONE, value[_HEADER_SIZE:])


def decode_apicurio_header(kind: FrameKind, name: str, header: bytes, value: bytes) -> Frame:
    """Return the frame of a value that is only the payload, with the id from a header.

    `kind` is APICURIO for a global id, and CONFLUENT for a content id.

    Raises:
        UnknownFramingError: the header is not the 8 bytes of an id.
    """
    if len(header) != _ID_SIZE or not 0 < int.from_bytes(header) < 2**31:
        raise UnknownFramingError(
            f"header {name}: found {describe(header)}, expected 8 with an id from 1 to 2^31 - 1"
        )
    id_size = _ID_SIZE if kind is FrameKind.APICURIO else _CONTENT_ID_SIZE
    key = SchemaKey(kind, header[-id_size:])
    return Frame(key, Compression.NONE, value)


def check_apicurio_encoding(name: str, header: bytes) -> None:
    """Check the header that names the encoding of a payload whose id is in another header.

    Raises:
        UnknownFramingError: the payload is JSON, or of an encoding that Apicurio does not have.
    """
    if header != _BINARY:
        raise UnknownFramingError(f"header {name}: found {header!r}, expected {_BINARY!r}")


def encode_apicurio_frame(key: SchemaKey, payload: bytes) -> bytes:
    """Return a payload behind the header that names its schema."""
    return _MAGIC + key.id + payload
