"""The decoded frame, which is the same for every kind, and the limits of decompression."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from penstock.framing.key import SchemaKey


class Compression(StrEnum):
    """The compression of a payload in its frame."""

    NONE = "none"
    ZLIB = "zlib"


@dataclass(frozen=True, slots=True)
class Frame:
    """The decoded frame of one record; its payload is decompressed."""

    key: SchemaKey
    compression: Compression
    payload: bytes = field(repr=False)  # long, and may hold personal data


@dataclass(frozen=True, slots=True)
class InflateLimits:
    """The limits of a compressed payload, which protect against decompression bombs.

    Up to `free_bytes` any ratio is allowed: a payload of that size could be sent uncompressed too.
    """

    # More than an event of 6 MB, Lambda's largest, takes; values take up to 100 times their bytes.
    max_bytes: int = 8 * 2**20
    max_ratio: int = 250
    free_bytes: int = 2**20

    def allow(self, compressed_size: int) -> int:
        """Return the largest decompressed size allowed for a compressed payload of this size."""
        return min(self.max_bytes, max(self.free_bytes, self.max_ratio * compressed_size))
