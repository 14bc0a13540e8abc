"""The rows of records that were given up, the same from a Lambda and from a Spark job.

The rows of the others are made by `penstock.records`.

A row has all that another try needs:

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

from typing import Any

from penstock.records import FailedRecord

_MAX_DETAIL_CHARACTERS = 2_000


def make_error(failed: FailedRecord) -> dict[str, Any]:
    """Make the row of a record that was given up."""
    record = failed.record
    row: dict[str, Any] = {
        "id": failed.id,
        "kafkaTimestamp": record.timestamp_ms,
        "reason": failed.failure.reason.value,
        "detail": write_detail(failed.failure.detail),
        "schemaId": None if failed.schema is None else str(failed.schema),
        "key": record.key,
        "value": record.value,
        # Not by name: one name may come twice, or be empty, which no attribute's may.
        "headers": [{"name": _readable(name), "value": value} for name, value in record.headers]
        or None,
        "firstSeen": failed.first_seen_ms,
        "attempts": 0,
        "stage": failed.stage,
        "nextAttemptAt": failed.first_seen_ms // 1_000,
    }
    return {name: value for name, value in row.items() if value is not None}


def write_detail(text: str) -> str:
    """Write an error's message as a row holds it."""
    return _readable(text[:_MAX_DETAIL_CHARACTERS])


def _readable(text: str) -> str:
    """Spell out halves of surrogate pairs, which no table takes; a message may quote them."""
    return text.encode(errors="backslashreplace").decode()
