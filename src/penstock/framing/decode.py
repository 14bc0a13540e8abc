"""Frames of every kind: the kind is detected when reading, and given by the key when writing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from penstock.errors import FramingError, NoRegistryForFramingError, UnknownFramingError
from penstock.framing._apicurio import (
    check_apicurio_encoding,
    decode_apicurio_frame,
    decode_apicurio_header,
    encode_apicurio_frame,
    is_apicurio_frame,
)
from penstock.framing._confluent import (
    decode_confluent_frame,
    decode_confluent_header,
    encode_confluent_frame,
)
from penstock.framing._describe import describe
from penstock.framing.frame import Compression, CompressionRule, Frame
from penstock.framing.glue import decode_glue_frame, encode_glue_frame, read_glue_key
from penstock.framing.key import FrameKind, SchemaKey

# The headers with the id of a value, and the kinds of these ids; a content id is the id in
# Apicurio's Confluent API. The headers of a key have "key" in place of "value".
CONFLUENT_ID: Final = "__value_schema_id"
GLOBAL_ID: Final = "apicurio.value.globalId"
CONTENT_ID: Final = "apicurio.value.contentId"
ENCODING: Final = "apicurio.value.encoding"
ID_HEADERS: Final = {
    CONFLUENT_ID: FrameKind.CONFLUENT,
    GLOBAL_ID: FrameKind.APICURIO,
    CONTENT_ID: FrameKind.CONFLUENT,
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
    content_ids: bool = False,
) -> Frame | None:
    """Decode the frame of a record's value or key; return None for a tombstone.

    Args:
        value: the bytes of the value or key in Kafka.
        headers: the record's headers; a schema id in a header takes precedence over the value's.
        is_key: the bytes are the record's key.
        kinds: the kinds that have a registry.
        content_ids: the registry of Confluent's kind is Apicurio's, and has its content ids.

    Raises:
        UnknownFramingError: the frame is of no known kind, or its payload is JSON.
        NoRegistryForFramingError: the frame's kind is not in `kinds`, or a header has a content
            id, and no registry has these.
        TruncatedFrameError: the frame, or the zlib stream inside it, ends too early.
        CorruptFrameError: the zlib stream is broken or bytes follow its end.
        InflateLimitError: the payload would become too large.
    """
    return _decode(value, _find_id(headers, is_key, kinds, content_ids), kinds)


def _decode(
    value: bytes | None,
    named: _NamedId | None,
    kinds: Collection[FrameKind],
    unframed: SchemaKey | None = None,
) -> Frame | None:
    if value is None:
        return None
    frame = _open(value, named, unframed)
    if named is not None and named.needs_apicurio:
        raise NoRegistryForFramingError(
            f"header {named.name}: found content id {int.from_bytes(frame.key.id)}, expected a "
            "registry with the URL of Apicurio's Confluent API, whose path has /apis/ccompat/"
        )
    if frame.key.kind not in kinds:
        known = " or ".join(sorted(kinds))
        expected = f"one of {known}" if known else "a registry, and PENSTOCK_REGISTRY names none"
        raise NoRegistryForFramingError(
            f"found a frame of {frame.key.kind} with schema {frame.key}, expected {expected}"
        )
    return frame


def read_schema_key(
    value: bytes | None,
    headers: Iterable[tuple[str, bytes | None]] = (),
    *,
    kinds: Collection[FrameKind] = _KINDS,
    unframed: SchemaKey | None = None,
    content_ids: bool = False,
) -> SchemaKey | None:
    """Return the schema key of a record's value; None for a tombstone or an unreadable header.

    The rest of the value may be corrupt, and the kind need not have a registry.
    """
    if value is None:
        return None
    named = _find_id(headers, False, kinds, content_ids)
    try:
        if named is None and unframed is None and value.startswith(b"\3"):
            return read_glue_key(value)
        return _open(value, named, unframed).key
    except FramingError:
        return None


@dataclass(frozen=True, slots=True)
class Framing:
    """How a program reads the schema ids of values: sent to Spark's executors.

    `kinds` are the kinds of frames that have a registry. `unframed` has the topics whose values
    have no frame, and the key of the schema that all of them were written in. `content_ids` says
    that the registry of Confluent's kind is Apicurio's: in another one, content ids of headers
    would be other schemas' ids.
    """

    kinds: frozenset[FrameKind] = frozenset(_KINDS)
    unframed: Mapping[str, SchemaKey] = field(default_factory=dict)
    content_ids: bool = False

    def has_registry(self, header: str) -> bool:
        """Return whether the ids in one of `ID_HEADERS` are those of a registry."""
        return _has_registry(header, self.kinds, self.content_ids)

    def decode(
        self, value: bytes | None, headers: Iterable[tuple[str, bytes | None]], topic: str
    ) -> Frame | None:
        """Decode the frame of a record's value; see `decode_frame`."""
        named = _find_id(headers, False, self.kinds, self.content_ids)
        return _decode(value, named, self.kinds, self.unframed.get(topic))

    def decode_key(
        self, key: bytes | None, headers: Iterable[tuple[str, bytes | None]]
    ) -> Frame | None:
        """Decode the frame of a record's key; see `decode_frame`."""
        return decode_frame(
            key, headers, is_key=True, kinds=self.kinds, content_ids=self.content_ids
        )

    def read_key(
        self, value: bytes | None, headers: Iterable[tuple[str, bytes | None]], topic: str
    ) -> SchemaKey | None:
        """Return the schema key of a record's value; see `read_schema_key`."""
        unframed, content_ids = self.unframed.get(topic), self.content_ids
        return read_schema_key(
            value, headers, kinds=self.kinds, unframed=unframed, content_ids=content_ids
        )


@dataclass(frozen=True, slots=True)
class _NamedId:
    """A header with the schema id of a value or key, and the encoding if another header has it."""

    id_header: str  # of ID_HEADERS
    needs_apicurio: bool  # it has a content id, and no registry has these
    name: str
    header: bytes
    encoding: tuple[str, bytes] | None


def _find_id(
    headers: Iterable[tuple[str, bytes | None]],
    is_key: bool,
    kinds: Collection[FrameKind],
    content_ids: bool,
) -> _NamedId | None:
    """Return the header that holds the schema id, or None.

    Ids that a registry has take precedence, then the order of `ID_HEADERS`; of several headers of
    one name the last one counts, as in the clients of Confluent and Apicurio.
    """
    last = dict(headers)
    if not last:
        return None
    names = sorted(ID_HEADERS, key=lambda each: not _has_registry(each, kinds, content_ids))
    for name in names:
        own = _of_part(name, is_key)
        if own in last:
            encoded = _of_part(ENCODING, is_key)
            encoding = (encoded, last[encoded] or b"") if encoded in last else None
            needs_apicurio = name == CONTENT_ID and not _has_registry(name, kinds, content_ids)
            return _NamedId(name, needs_apicurio, own, last[own] or b"", encoding)
    return None


def _has_registry(header: str, kinds: Collection[FrameKind], content_ids: bool) -> bool:
    return ID_HEADERS[header] in kinds and (content_ids or header != CONTENT_ID)


def _of_part(name: str, is_key: bool) -> str:
    return name.replace("value", "key") if is_key else name


def _open(value: bytes, named: _NamedId | None, unframed: SchemaKey | None) -> Frame:
    if named is not None:
        return _open_named(value, named)
    if unframed is not None:
        return Frame(unframed, Compression.NONE, value)
    match value[:1]:
        case b"\3":
            return decode_glue_frame(value)
        case b"\0" if is_apicurio_frame(value):
            return decode_apicurio_frame(value)
        case b"\0" | b"\1":
            return decode_confluent_frame(value)
    raise UnknownFramingError(
        f"found {describe(value)}, expected to start with 03 (Glue), 00 or 01 (Confluent)"
    )


def _open_named(value: bytes, named: _NamedId) -> Frame:
    if named.id_header == CONFLUENT_ID:
        return decode_confluent_header(named.name, named.header, value)
    if named.encoding is not None:
        check_apicurio_encoding(*named.encoding)
    return decode_apicurio_header(ID_HEADERS[named.id_header], named.name, named.header, value)
