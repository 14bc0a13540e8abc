"""Frames of every kind: the kind is detected when reading, and given by the key when writing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from penstock.errors import FramingError, NoRegistryForFramingError, UnknownFramingError
from penstock.framing._apicurio import (
    decode_apicurio_frame,
    decode_apicurio_header,
    encode_apicurio_frame,
)
from penstock.framing._confluent import (
    decode_confluent_frame,
    decode_confluent_header,
    encode_confluent_frame,
)
from penstock.framing._describe import describe
from penstock.framing.frame import CompressionRule, Frame
from penstock.framing.glue import decode_glue_frame, encode_glue_frame, read_glue_key
from penstock.framing.key import FrameKind, SchemaKey

# The headers with the id of a value or key, and the kinds of these ids.
_VALUE_HEADERS: Final = {
    "__value_schema_id": FrameKind.CONFLUENT,
    "apicurio.value.globalId": FrameKind.APICURIO,
}
_KEY_HEADERS: Final = {
    "__key_schema_id": FrameKind.CONFLUENT,
    "apicurio.key.globalId": FrameKind.APICURIO,
}
_COMPRESSION: Final = CompressionRule()
_KINDS: Final = (FrameKind.GLUE, FrameKind.CONFLUENT)


def encode_frame(
    key: SchemaKey, payload: bytes, compression: CompressionRule = _COMPRESSION
) -> bytes:
    """Return a payload in a frame of its key's kind; only Glue's frames know compression.

    Raises:
        RecordTooLargeError: the compressed payload is larger than a reader inflates.
    """
    match key.kind:
        case FrameKind.GLUE:
            return encode_glue_frame(key, payload, compression)
        case FrameKind.CONFLUENT:
            return encode_confluent_frame(key, payload)
        case FrameKind.APICURIO:
            return encode_apicurio_frame(key, payload)


def decode_frame(
    value: bytes | None,
    headers: Iterable[tuple[str, bytes | None]] = (),
    *,
    is_key: bool = False,
    kinds: Collection[FrameKind] = _KINDS,
) -> Frame | None:
    """Decode the frame of a record's value or key; return None for a tombstone.

    Args:
        value: the bytes of the value or key in Kafka.
        headers: the record's headers; a schema id in a header takes precedence over the value's.
        is_key: the bytes are the record's key.
        kinds: the kinds that have a registry. If Apicurio is one of them, a first byte of 0 is
            followed by its 8-byte id, otherwise by Confluent's 4-byte id.

    Raises:
        UnknownFramingError: the frame is of no known kind.
        NoRegistryForFramingError: the frame's kind is not in `kinds`.
        TruncatedFrameError: the frame, or the zlib stream inside it, ends too early.
        CorruptFrameError: the zlib stream is broken or bytes follow its end.
        InflateLimitError: the payload would become too large.
    """
    if value is None:
        return None
    frame = _open(
        value, _find_id(headers, _KEY_HEADERS if is_key else _VALUE_HEADERS, kinds), kinds
    )
    if frame.key.kind not in kinds:
        raise NoRegistryForFramingError(
            f"found a frame of {frame.key.kind} with schema {frame.key}, expected one of "
            f"{' or '.join(sorted(kinds))}"
        )
    return frame


def read_schema_key(
    value: bytes | None,
    headers: Iterable[tuple[str, bytes | None]] = (),
    *,
    kinds: Collection[FrameKind] = _KINDS,
) -> SchemaKey | None:
    """Return the schema key of a record's value; None for a tombstone or an unreadable header.

    The rest of the value may be corrupt, and the kind need not have a registry.
    """
    if value is None:
        return None
    named = _find_id(headers, _VALUE_HEADERS, kinds)
    try:
        if named is None and value.startswith(b"\3"):
            return read_glue_key(value)
        return _open(value, named, kinds).key
    except FramingError:
        return None


@dataclass(frozen=True, slots=True)
class _NamedId:
    """A header that holds the schema id of a value or key."""

    kind: FrameKind
    name: str
    header: bytes


def _find_id(
    headers: Iterable[tuple[str, bytes | None]],
    names: Mapping[str, FrameKind],
    kinds: Collection[FrameKind],
) -> _NamedId | None:
    """Return the header that holds the schema id, or None.

    A kind that has a registry takes precedence; of several headers the last one counts, as in
    Confluent's clients.
    """
    found = None
    for name, header in headers:
        kind = names.get(name)
        if kind is not None and (found is None or kind in kinds or found.kind not in kinds):
            found = _NamedId(kind, name, header or b"")
    return found


def _open(value: bytes, named: _NamedId | None, kinds: Collection[FrameKind]) -> Frame:
    if named is not None:
        is_confluent = named.kind is FrameKind.CONFLUENT
        decode = decode_confluent_header if is_confluent else decode_apicurio_header
        return decode(named.name, named.header, value)
    match value[:1]:
        case b"\3":
            return decode_glue_frame(value)
        case b"\0" if FrameKind.APICURIO in kinds:
            return decode_apicurio_frame(value)
        case b"\0" | b"\1":
            return decode_confluent_frame(value)
    raise UnknownFramingError(
        f"found {describe(value)}, expected to start with 03 (Glue), 00 or 01 (Confluent)"
    )
