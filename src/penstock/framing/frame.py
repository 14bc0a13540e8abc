"""What every kind of frame comes down to."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from penstock.framing.key import SchemaKey


class Compression(StrEnum):
    """How the payload was compressed in the frame."""

    NONE = "none"
    ZLIB = "zlib"


@dataclass(frozen=True, slots=True)
class Frame:
    """One record's frame, opened: the payload is no longer compressed."""

    key: SchemaKey
    compression: Compression
    payload: bytes = field(repr=False)  # somebody's data, and long


@dataclass(frozen=True, slots=True)
class InflateLimits:
    """How far a compressed payload may grow before it counts as a bomb.

    Up to `free_bytes` it may grow at any ratio: so large it could have come uncompressed too.
    """

    # More than an event of 6 MB takes, a Lambda's largest; values take up to 100 times their bytes.
    max_bytes: int = 8 * 2**20
    max_ratio: int = 250
    free_bytes: int = 2**20

    def allow(self, compressed_size: int) -> int:
        """Return the most bytes that a compressed payload of this size may become."""
        return min(self.max_bytes, max(self.free_bytes, self.max_ratio * compressed_size))
