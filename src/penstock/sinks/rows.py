"""The two kinds of rows, the same from a Lambda and from a Spark job.

A reading is one record. Its key follows from the record alone, so writing it again changes nothing:

    deviceId    partition key, the event's own
    readingId   sort key: the event's timestamp in 13 digits, topic, partition and offset
    timestamp   the event's own, in milliseconds since 1970
    ...         the event's other fields
    _topic      where the record was read
    _source     topic/partition/offset
    _schema     number of the version it was written in
    _schemaId   id of that version

A field of the event with a name that is ours is kept in the map `_event`.

An error is a record that no reading could be made of, with all that another try needs:

    id          topic/partition/offset/kafkaTimestamp: a topic made anew has its offsets again
    kafkaTimestamp  when it was written to Kafka, in milliseconds since 1970
    reason      a `Reason`
    detail      the error's message
    schemaId    the version that the frame names, if it has one
    key, value  the record's raw bytes, where it has them
    headers     its headers by name and value, where it has any
    keyAt, valueAt, headersAt   where they are instead, when a row cannot hold them: s3://...
    firstSeen   when it was given up first, in milliseconds since 1970
    attempts    how often it was tried again, and given up again
    stage       where it was given up
    nextAttemptAt  when it is due, in seconds since 1970: at once; a settled row has none

A replay (`jobs/replay.py`) adds what became of it:

    replay         the replay that tried it last
    nextAttemptAt  an hour later, if that failed
    doneAt         when it was written after all, in milliseconds since 1970
    parkedAt       where it is kept since it was given up for good: s3://...
    expiresAt      of a row that is done or parked, when DynamoDB deletes it, in seconds since 1970
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from penstock.errors import Reason, UnroutableError

_MAX_TIMESTAMP = 10**13 - 1
_MAX_DETAIL_CHARACTERS = 2_000
_OWN = frozenset({"readingId", "_topic", "_source", "_schema", "_schemaId", "_event"})


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
class ErrorRecord:
    """A record that was given up, and why."""

    source: Source
    kafka_timestamp_ms: int
    reason: Reason
    detail: str
    schema_id: str | None
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]
    first_seen_ms: int
    stage: str

    @property
    def id(self) -> str:
        """Name it as its row is named."""
        return f"{self.source}/{self.kafka_timestamp_ms}"


def make_reading(event: Any, source: Source, schema_number: int, schema_id: str) -> dict[str, Any]:
    """Make the row of an event.

    Raises:
        UnroutableError: it is no object, or has no device id, or no timestamp to sort it by.
    """
    if not isinstance(event, Mapping):
        raise UnroutableError(f"{source}: found {type(event).__name__}, expected an event")
    device, timestamp = event.get("deviceId"), event.get("timestamp")
    if not isinstance(device, str) or not device:
        raise UnroutableError(f"{source}: found deviceId {device!r}, expected a text")
    if type(timestamp) is not int or not 0 <= timestamp <= _MAX_TIMESTAMP:
        raise UnroutableError(
            f"{source}: found timestamp {timestamp!r}, expected milliseconds since 1970"
        )
    hidden = {name: event[name] for name in _OWN.intersection(event)}
    return {
        **event,
        **({"_event": hidden} if hidden else {}),
        "readingId": f"{timestamp:013d}-{source.topic}-{source.partition}-{source.offset}",
        "_topic": source.topic,
        "_source": str(source),
        "_schema": schema_number,
        "_schemaId": schema_id,
    }


def make_error(record: ErrorRecord) -> dict[str, Any]:
    """Make the row of a record that was given up."""
    row: dict[str, Any] = {
        "id": record.id,
        "kafkaTimestamp": record.kafka_timestamp_ms,
        "reason": record.reason.value,
        "detail": write_detail(record.detail),
        "schemaId": record.schema_id,
        "key": record.key,
        "value": record.value,
        # Not by name: one name may come twice, or be empty, which no attribute's may.
        "headers": [{"name": _readable(name), "value": value} for name, value in record.headers]
        or None,
        "firstSeen": record.first_seen_ms,
        "attempts": 0,
        "stage": record.stage,
        "nextAttemptAt": record.first_seen_ms // 1_000,
    }
    return {name: value for name, value in row.items() if value is not None}


def write_detail(text: str) -> str:
    """Write an error's message as a row holds it."""
    return _readable(text[:_MAX_DETAIL_CHARACTERS])


def _readable(text: str) -> str:
    """Spell out halves of surrogate pairs, which no table takes; a message may quote them."""
    return text.encode(errors="backslashreplace").decode()
