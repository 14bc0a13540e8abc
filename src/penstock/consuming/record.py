"""A record as it came out of Kafka."""

from __future__ import annotations

from dataclasses import dataclass, field

from penstock.sinks import Source


@dataclass(frozen=True, slots=True)
class Record:
    """One record, unread; without a value it is a tombstone."""

    source: Source
    key: bytes | None = field(repr=False)
    value: bytes | None = field(repr=False)  # somebody's data, and long
    headers: tuple[tuple[str, bytes | None], ...] = field(default=(), repr=False)
    timestamp_ms: int = 0  # when it was written, by the producer's clock or the broker's
