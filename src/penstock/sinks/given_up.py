"""A dead letter, read from its row."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Self

from penstock.errors import ObjectMissingError, Reason
from penstock.records import Source
from penstock.sinks.parking import Parking

_MOST_ATTEMPTS: Final = 3


@dataclass(frozen=True, slots=True)
class GivenUp:
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
        topic, partition, offset, _ = row["id"].rsplit("/", 3)
        return cls(
            row["id"],
            Source(topic, int(partition), int(offset)),
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
        )

    @classmethod
    def restore(cls, row: Mapping[str, Any], parking: Parking) -> Self:
        """Return the dead letter of a row, with bytes that do not fit in it read from the bucket.

        If the bucket has lost them, the dead letter has no bytes and `lost` says why.
        """
        try:
            raw = {
                name: parking.get(row[f"{name}At"]) if f"{name}At" in row else row.get(name)
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

    @property
    def is_spent(self) -> bool:
        """Return whether it failed too often to be retried."""
        return self.attempts >= _MOST_ATTEMPTS

    @property
    def size(self) -> int:
        """The bytes of the record's key and value."""
        return len(self.key or b"") + len(self.value or b"")


@dataclass(frozen=True, slots=True)
class Selection:
    """A filter of dead letters to replay: every condition that is set must hold."""

    since_ms: int | None = None
    until_ms: int | None = None
    reasons: frozenset[Reason] = frozenset()
    schema_ids: frozenset[str] = frozenset()
    attempts: int | None = None
    due_s: int | None = None

    def takes(self, row: GivenUp) -> bool:
        """Return whether a row is open and meets every condition."""
        due = row.next_attempt_s
        return (
            not row.settled
            and (self.since_ms is None or self.since_ms <= row.first_seen_ms)
            and (self.until_ms is None or row.first_seen_ms < self.until_ms)
            and (not self.reasons or row.reason in self.reasons)
            and (not self.schema_ids or row.schema_id in self.schema_ids)
            and (self.attempts is None or row.attempts == self.attempts)
            and (self.due_s is None or (due is not None and due <= self.due_s))
        )


def _decode(text: str | None) -> bytes | None:
    return None if text is None else b64decode(text)
