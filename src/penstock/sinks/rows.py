"""Rows of the dead-letter table, the same from Lambda and from Spark.

`penstock.records` makes the rows of readings. A row has everything that a replay needs:

    id             topic/partition/offset/kafkaTimestamp; a recreated topic repeats offsets
    kafkaTimestamp the record's timestamp in Kafka, in milliseconds since 1970
    reason         a `Reason`
    detail         the error's message
    schemaId       the schema version that the frame names, if any
    key, value     the record's raw bytes, if it has them
    headers        the record's headers by name and value, if it has any
    keyAt, valueAt, headersAt   their URL, s3://..., if they do not fit in the row
    firstSeen      when the record was first given up, in milliseconds since 1970
    attempts       the number of failed retries
    stage          where the record was given up
    nextAttemptAt  when the next retry is due, in seconds since 1970: at first immediately; missing
                   if done or parked

A replay (`jobs/replay.py`) adds its result:

    replay         the last replay that tried the record
    nextAttemptAt  an hour later, if the replay failed
    doneAt         when the replay wrote the record, in milliseconds since 1970
    parkedAt       the URL of the parked record, s3://...
    expiresAt      if done or parked: when DynamoDB deletes the row (TTL), in seconds since 1970
"""

from __future__ import annotations

from typing import Any

from penstock.records import FailedRecord

_MAX_DETAIL_CHARACTERS = 2_000


def make_error(failed: FailedRecord) -> dict[str, Any]:
    """Return the row of a failed record."""
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
        "nextAttemptAt": failed.first_seen_ms // 1_000,
    }
    return {name: value for name, value in row.items() if value is not None}


def write_detail(text: str) -> str:
    """Return an error's message in the form that a row holds, cut to 2,000 characters."""
    return _readable(text[:_MAX_DETAIL_CHARACTERS])


def _readable(text: str) -> str:
    """Escape halves of surrogate pairs, which DynamoDB rejects; a message may quote them."""
    return text.encode(errors="backslashreplace").decode()
