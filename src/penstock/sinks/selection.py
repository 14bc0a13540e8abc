"""The selection of dead letters to list or to replay."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import partial

from penstock.errors import Reason
from penstock.framing import SchemaKey
from penstock.records import Source, read_letter_id
from penstock.settings import Settings, parse_count, parse_moment, setting
from penstock.sinks.dead_letter import DeadLetter


@dataclass(frozen=True, slots=True)
class Selection:
    """A filter of dead letters: every condition that is set must hold."""

    since_ms: int | None = None
    until_ms: int | None = None
    reasons: frozenset[Reason] = frozenset()
    schema_ids: frozenset[str] = frozenset()
    attempts: int | None = None
    due_s: int | None = None
    ids: frozenset[str] = frozenset()
    source: Source | None = None

    def matches(self, row: DeadLetter) -> bool:
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
            and (not self.ids or row.id in self.ids)
            and (self.source is None or row.source == self.source)
        )


class WhichRows(StrEnum):
    """The open rows (neither done nor parked) to select: all, or those that are due."""

    OPEN = "open"
    DUE = "due"


def _parse_reasons(text: str) -> frozenset[Reason]:
    return frozenset(Reason(reason.strip()) for reason in text.split(","))


def _parse_ids(text: str) -> frozenset[str]:
    return frozenset(str(SchemaKey.parse(key.strip().lower())) for key in text.split(","))


def _parse_letters(text: str) -> frozenset[str]:
    ids = frozenset(each.strip() for each in text.split(","))
    for each in ids:
        read_letter_id(each)  # raises ValueError
    return ids


@dataclass(frozen=True, slots=True)
class SelectionSettings(Settings):
    """The dead letters to select; each must meet every condition that is set."""

    which: WhichRows = setting(
        "PENSTOCK_WHICH",
        "open for all that are neither done nor parked, or due for those of them that have not"
        " failed within the last hour",
        parse=WhichRows,
        default=WhichRows.OPEN,
    )
    since: datetime | None = setting(
        "PENSTOCK_SINCE",
        "a time like 2026-11-21T08:00:00+00:00, for dead letters from then on",
        parse=parse_moment,
        default=None,
    )
    until: datetime | None = setting(
        "PENSTOCK_UNTIL",
        "a time like 2026-11-21T08:00:00+00:00, for dead letters from before",
        parse=parse_moment,
        default=None,
    )
    reason: frozenset[Reason] = setting(
        "PENSTOCK_REASON",
        f"reasons, separated by commas, of {', '.join(Reason)}",
        parse=_parse_reasons,
        default=frozenset(),
    )
    schema: frozenset[str] = setting(
        "PENSTOCK_SCHEMA",
        "ids of schema versions, as in the rows, separated by commas",
        parse=_parse_ids,
        default=frozenset(),
    )
    attempts: int | None = setting(
        "PENSTOCK_ATTEMPTS",
        "number of failed retries so far, a number from 0",
        parse=partial(parse_count, least=0),
        default=None,
    )
    id: frozenset[str] = setting(
        "PENSTOCK_ID",
        "ids of dead letters, like sensor/0/41/1795234015788/spark, separated by commas",
        parse=_parse_letters,
        default=frozenset(),
    )

    def problems(self) -> Iterator[str]:
        """Yield a problem if --until is not after --since."""
        if self.since and self.until and self.since >= self.until:
            yield f"--until is {self.until}, expected a time after --since {self.since}"

    def select(self, now_s: int) -> Selection:
        """Return the selection to read from the dead-letter table."""
        return Selection(
            _to_ms(self.since),
            _to_ms(self.until),
            self.reason,
            self.schema,
            self.attempts,
            now_s if self.which is WhichRows.DUE else None,
            self.id,
        )


def _to_ms(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp() * 1_000)
