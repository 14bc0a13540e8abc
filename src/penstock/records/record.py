"""A Kafka record, and a failed record."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from typing import Final, Self

from penstock.errors import Failure
from penstock.framing import SchemaKey

FUNCTION: Final = "lambda"  # the stage of the consumer function
_LETTER: Final = re.compile(r"((.+)/(\d+)/(\d+)/-?\d+)(?:/[^/\d][^/]*)?")
MAX_TIMESTAMP_MS: Final = (2**63 - 1) // 1_000  # of Spark's timestamps, which are microseconds


@dataclass(frozen=True, slots=True)
class Source:
    """The topic, partition and offset of a record."""

    topic: str
    partition: int
    offset: int

    def __str__(self) -> str:
        """Return `topic/partition/offset`."""
        return f"{self.topic}/{self.partition}/{self.offset}"


@dataclass(frozen=True, slots=True)
class Record:
    """A Kafka record, not decoded; without a value it is a tombstone."""

    source: Source
    key: bytes | None = field(repr=False)
    value: bytes | None = field(repr=False)  # long, and data that must not be in logs
    headers: tuple[tuple[str, bytes | None], ...] = field(default=(), repr=False)
    timestamp_ms: int = 0  # CreateTime or LogAppendTime, as the topic is configured


@dataclass(frozen=True, slots=True)
class FailedRecord:
    """A record that is given up, with the failure, the schema key, the stage and the first time.

    A record that could not be joined has its row, `table/key`, and the rows that it waits for.
    """

    record: Record
    failure: Failure
    schema: SchemaKey | None
    stage: str
    first_seen_ms: int
    driver: str = ""
    waiting_for: tuple[str, ...] = ()

    @classmethod
    def of(cls, record: Record, failure: Failure, schema: SchemaKey | None, stage: str) -> Self:
        """Return a failed record with the current time."""
        return cls(record, failure, schema, stage, time.time_ns() // 1_000_000)

    @property
    def record_id(self) -> str:
        """The id of its record: a recreated topic repeats offsets, but not timestamps."""
        return f"{self.record.source}/{self.record.timestamp_ms}"

    @property
    def id(self) -> str:
        """The id of the dead letter, which is the key of its row."""
        return write_letter_id(self.record_id, self.stage)


def write_letter_id(record_id: str, stage: str) -> str:
    """Return the id of the dead letter of a record at a stage, so that none hides another's.

    The function's is the id of the record, as those of all stages were in older versions.
    """
    return record_id if stage == FUNCTION else f"{record_id}/{stage}"


def read_letter_id(letter_id: str) -> tuple[Source, str]:
    """Return the source and the id of a dead letter's record.

    Raises:
        ValueError: it is not the id of a dead letter.
    """
    found = _LETTER.fullmatch(letter_id)
    if found is None:
        raise ValueError(f"found the id {letter_id!r}, expected topic/partition/offset/timestamp")
    record_id, topic, partition, offset = found.groups()
    return Source(topic, int(partition), int(offset)), record_id
