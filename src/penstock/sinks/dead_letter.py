"""Dead letters: the row of one, the same from Lambda and from Spark, and what a replay reads.

A row has everything that a replay needs:

    id             topic/partition/offset/kafkaTimestamp, and /stage if it is not `lambda`:
                   a recreated topic repeats offsets, and each stage has a row of its own
    kafkaTimestamp the record's timestamp in Kafka, in milliseconds since 1970
    reason         a `Reason`
    detail         the error's message
    schemaId       the schema version that the frame names, if any
    key, value     the record's raw bytes, if it has them
    headers        the record's headers by name and value, if it has any
    keyAt, valueAt, headersAt   their URL, s3://..., if they do not fit in the row
    firstSeen      when the record was first given up, in milliseconds since 1970; a row that is
                   done is replaced if its record is given up again
    attempts       the number of failed retries
    stage          who gave the record up, and so owns the row: `lambda`, `spark` or `join`; a job
                   has one row for all of its tables, with the first of its reasons
    nextAttemptAt  when the next retry is due, in seconds since 1970: at first immediately, for a
                   join after a delay; missing if done or parked

A row of a record that was not joined (stage `join`, docs/staging.md) also has:

    driver         the record's row: `table/key`
    waitingFor     the rows that the join lacks: `table/key` of each

A replay (`jobs/replay.py`) adds its result to the rows that it selected, and to no other owner's:

    replay         the last replay that tried the record
    nextAttemptAt  an hour later, if the replay failed
    doneAt         when the replay wrote the record, in milliseconds since 1970
    parkedAt       the URL of the parked record, s3://...
    expiresAt      if done or parked: when DynamoDB deletes the row (TTL), in seconds since 1970
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Self

from penstock.errors import ObjectMissingError
from penstock.records import FailedRecord, Source, read_letter_id
from penstock.sinks.object_store import ObjectStore

_MAX_DETAIL_CHARACTERS: Final = 2_000
_MOST_ATTEMPTS: Final = 3


def make_error(failed: FailedRecord, wait_seconds: int = 0) -> dict[str, Any]:
    """Return the row of a failed record, with the first retry after the given seconds."""
    record = failed.record
    row: dict[str, Any] = {
        "id": failed.id,
        "kafkaTimestamp": record.timestamp_ms,
        "reason": failed.failure.reason.value,
        "detail": write_detail(failed.failure.detail),
        "schemaId": None if failed.schema is None else str(failed.schema),
        "key": record.key,
        "value": record.value,
        # Not a map by name: a header's name may occur twice or be empty.
        "headers": [{"name": _readable(name), "value": value} for name, value in record.headers]
        or None,
        "firstSeen": failed.first_seen_ms,
        "attempts": 0,
        "stage": failed.stage,
        "nextAttemptAt": failed.first_seen_ms // 1_000 + wait_seconds,
        "driver": failed.driver or None,
        "waitingFor": list(failed.waiting_for) or None,
    }
    return {name: value for name, value in row.items() if value is not None}


def write_detail(text: str) -> str:
    """Return an error's message in the form that a row holds, cut to 2,000 characters."""
    return _readable(text[:_MAX_DETAIL_CHARACTERS])


def write_headers(headers: Iterable[tuple[str, bytes | None]]) -> bytes:
    """Return headers in the form that the bucket holds."""
    return json.dumps(
        [
            {"name": name, "value": None if value is None else b64encode(value).decode()}
            for name, value in headers
        ]
    ).encode()


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A dead letter; `settled` is true if it is done or parked."""

    id: str
    source: Source
    kafka_timestamp_ms: int
    reason: str
    detail: str
    schema_id: str | None
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]
    first_seen_ms: int
    attempts: int
    stage: str
    next_attempt_s: int | None
    replay: str | None
    settled: bool
    driver: str = ""
    waiting_for: tuple[str, ...] = ()
    lost: str = ""  # why some of the record's own bytes are missing

    @classmethod
    def describe(
        cls,
        row: Mapping[str, Any],
        key: bytes | None = None,
        value: bytes | None = None,
        headers: tuple[tuple[str, bytes | None], ...] = (),
    ) -> Self:
        """Return the dead letter of a row, with the record's own bytes if they are given."""
        source, _ = read_letter_id(row["id"])
        return cls(
            row["id"],
            source,
            row["kafkaTimestamp"],
            row["reason"],
            row.get("detail", ""),
            row.get("schemaId"),
            key,
            value,
            headers,
            row.get("firstSeen", 0),
            row.get("attempts", 0),
            row.get("stage", ""),
            row.get("nextAttemptAt"),
            row.get("replay"),
            "doneAt" in row or "parkedAt" in row,
            row.get("driver", ""),
            tuple(row.get("waitingFor", ())),
        )

    @classmethod
    def restore(cls, row: Mapping[str, Any], store: ObjectStore) -> Self:
        """Return the dead letter of a row, with bytes that do not fit in it read from the bucket.

        If the bucket has lost them, the dead letter has no bytes and `lost` says why.
        """
        try:
            raw = {
                name: store.get(row[f"{name}At"]) if f"{name}At" in row else row.get(name)
                for name in ("key", "value", "headers")
            }
        except ObjectMissingError as error:
            return replace(cls.describe(row), lost=str(error))
        headers = raw["headers"] or ()
        if isinstance(headers, bytes):
            headers = [
                {"name": each["name"], "value": _decode(each["value"])}
                for each in json.loads(headers)
            ]
        pairs = tuple((each["name"], each["value"]) for each in headers)
        return cls.describe(row, raw["key"], raw["value"], pairs)

    def to_values(self) -> dict[str, Any]:
        """Return the columns that Athena's tables of dead letters share, for JSON."""
        return {
            "id": self.id,
            "topic": self.source.topic,
            "kafka_partition": self.source.partition,
            "kafka_offset": self.source.offset,
            "kafka_timestamp": self.kafka_timestamp_ms,
            "reason": self.reason,
            "detail": self.detail,
            "schema_id": self.schema_id,
            "first_seen": self.first_seen_ms,
            "stage": self.stage,
            "driver": self.driver or None,
            "waiting_for": self.waiting_for,
        }

    @property
    def is_spent(self) -> bool:
        """Return whether it failed too often to be retried."""
        return self.attempts >= _MOST_ATTEMPTS

    @property
    def size(self) -> int:
        """The bytes of the record's key and value."""
        return len(self.key or b"") + len(self.value or b"")


def _readable(text: str) -> str:
    """Escape halves of surrogate pairs, which DynamoDB rejects; a message may quote them."""
    return text.encode(errors="backslashreplace").decode()


def _decode(text: str | None) -> bytes | None:
    return None if text is None else b64decode(text)
