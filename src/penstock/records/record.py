"""A record as it came out of Kafka, and one that was given up."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Self

from penstock.errors import Failure
from penstock.framing import SchemaKey


@dataclass(frozen=True, slots=True)
class Source:
    """Where a record is in Kafka."""

    topic: str
    partition: int
    offset: int

    def __str__(self) -> str:
        """Write it as rows name it."""
        return f"{self.topic}/{self.partition}/{self.offset}"


@dataclass(frozen=True, slots=True)
class Record:
    """One record, unread; without a value it is a tombstone."""

    source: Source
    key: bytes | None = field(repr=False)
    value: bytes | None = field(repr=False)  # somebody's data, and long
    headers: tuple[tuple[str, bytes | None], ...] = field(default=(), repr=False)
    timestamp_ms: int = 0  # when it was written, by the producer's clock or the broker's


@dataclass(frozen=True, slots=True)
class FailedRecord:
    """A record that was given up: why, under which schema, where (`stage`) and when first."""

    record: Record
    failure: Failure
    schema: SchemaKey | None
    stage: str
    first_seen_ms: int

    @classmethod
    def of(cls, record: Record, failure: Failure, schema: SchemaKey | None, stage: str) -> Self:
        """Give a record up now."""
        return cls(record, failure, schema, stage, time.time_ns() // 1_000_000)

    @property
    def id(self) -> str:
        """Name it as its row is named; a topic made again has its offsets again, not its times."""
        return f"{self.record.source}/{self.record.timestamp_ms}"
