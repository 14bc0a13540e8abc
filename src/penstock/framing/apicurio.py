"""The frame of Apicurio Registry's own serialisers with 8-byte ids.

    byte    content
    0       0
    1-8     global id of the schema, big-endian
    9-      the payload

Its first byte is Confluent's, so it is read only where a caller says that a topic has it. With
4-byte ids (the default since Apicurio 3) the frame is Confluent's.
"""

from __future__ import annotations

from typing import Final

from penstock.errors import TruncatedFrameError, UnknownFramingError
from penstock.framing._describe import describe
from penstock.framing.frame import Compression, Frame, FrameKind

_HEADER_SIZE: Final = 9


def decode_apicurio_frame(value: bytes) -> Frame:
    """Open a value that starts with Apicurio's magic byte, 0.

    Raises:
        TruncatedFrameError: shorter than the header.
        UnknownFramingError: a schema id that no registry gives out.
    """
    if len(value) < _HEADER_SIZE:
        raise TruncatedFrameError(
            f"Apicurio frame: found {describe(value)}, expected a header of {_HEADER_SIZE}"
        )
    schema_id = int.from_bytes(value[1:_HEADER_SIZE], signed=True)
    if schema_id < 1:
        raise UnknownFramingError(
            f"Apicurio frame: found schema id {schema_id} in {describe(value)}, expected 1 or more"
        )
    payload = value[_HEADER_SIZE:]
    return Frame(FrameKind.APICURIO, schema_id, Compression.NONE, payload)
