"""Telling the frames apart."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from penstock.errors import UnknownFramingError
from penstock.framing._describe import describe
from penstock.framing.apicurio import decode_apicurio_frame
from penstock.framing.confluent import decode_confluent_frame, decode_confluent_header
from penstock.framing.frame import Frame, InflateLimits
from penstock.framing.glue import decode_glue_frame

_VALUE_ID_HEADER: Final = "__value_schema_id"
_KEY_ID_HEADER: Final = "__key_schema_id"
_LIMITS: Final = InflateLimits()


def decode_frame(
    value: bytes | None,
    headers: Iterable[tuple[str, bytes | None]] = (),
    *,
    is_key: bool = False,
    apicurio: bool = False,
    limits: InflateLimits = _LIMITS,
) -> Frame | None:
    """Open the frame of a record's value or key; None, a tombstone, stays None.

    Args:
        value: the bytes as they were in Kafka.
        headers: the record's; one that names the schema id goes before what the value starts with.
        is_key: the bytes are the record's key.
        apicurio: a first byte of 0 is followed by Apicurio's 8-byte id, not Confluent's 4.
        limits: how far a compressed payload may grow.

    Raises:
        UnknownFramingError: no frame we know.
        TruncatedFrameError: the frame, or the zlib stream inside it, ends too early.
        CorruptFrameError: the zlib stream is broken or bytes follow its end.
        InflateLimitError: the payload would become too large.
    """
    if value is None:
        return None
    name = _KEY_ID_HEADER if is_key else _VALUE_ID_HEADER
    ids = [header for key, header in headers if key == name]
    if ids:  # Confluent's clients read the last one too
        return decode_confluent_header(name, ids[-1] or b"", value)
    match value[:1]:
        case b"\x03":
            return decode_glue_frame(value, limits)
        case b"\x00" if apicurio:
            return decode_apicurio_frame(value)
        case b"\x00" | b"\x01":
            return decode_confluent_frame(value)
    raise UnknownFramingError(
        f"found {describe(value)}, expected to start with 03 (Glue), 00 or 01 (Confluent)"
    )
