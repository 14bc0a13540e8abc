"""The decoded frame, which is the same for every kind."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from penstock.framing.key import SchemaKey


class Compression(StrEnum):
    """The compression of a payload in its frame."""

    NONE = "none"
    ZLIB = "zlib"


@dataclass(frozen=True, slots=True)
class CompressionRule:
    """The payloads worth compressing: large enough, and becoming enough smaller.

    Inflating costs a reader more than the bytes that a small saving spares it.
    """

    min_bytes: int = 1024  # of a payload
    min_saving: int = 25  # percent of a payload


@dataclass(frozen=True, slots=True)
class Frame:
    """The decoded frame of one record; its payload is decompressed."""

    key: SchemaKey
    compression: Compression
    payload: bytes = field(repr=False)  # long, and may hold personal data
