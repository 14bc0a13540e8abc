"""One way to write outcomes: rows to their table, and dead letters to theirs."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Protocol

from penstock.consuming.reader import RecordReader
from penstock.errors import Failure, Reason
from penstock.framing import SchemaKey
from penstock.records import Deletion, FailedRecord, Ignored, Outcome, Record, Row, Waiting
from penstock.sinks import RowWriter

MAX_WAITING: Final = 1_000  # schema keys that a batch looks up at once


class ErrorSink(Protocol):
    """A sink for records that were given up."""

    def keep(self, failed: Sequence[FailedRecord]) -> None:
        """Store records; records that are stored already are not changed."""


# A row that its table has, and the function that gives up its record.
WrittenRow = tuple[Mapping[str, Any], Callable[[Failure], FailedRecord]]


class AfterWrite(Protocol):
    """A step after rows are written; it is sent to Spark's executors."""

    def __call__(self, written: Sequence[WrittenRow]) -> tuple[Counter[Any], set[str]]:
        """Process rows that are in their table; return counts, and the names of rows to release."""

    def release(self, awaited: Iterable[str]) -> Counter[Any]:
        """Release the rows that wait for rows with these names, after all tables are written."""

    def report(self, counts: Counter[Any]) -> Counter[Reason]:
        """Report counts on the driver; return those of records that were given up, by reason."""


@dataclass(slots=True)
class Written:
    """The counts of outcomes that were written.

    `waiting` has the most frequent schema keys of records that wait, `after` the counts of the step
    after the write, and `awaited` the names of the rows that it is to release.
    """

    records: int = 0
    rows: int = 0
    deletions: int = 0
    unknown: int = 0
    ignored: Counter[Ignored] = field(default_factory=Counter)
    failed: Counter[Reason] = field(default_factory=Counter)
    waiting: Counter[SchemaKey] = field(default_factory=Counter)
    after: Counter[Any] = field(default_factory=Counter)
    awaited: set[str] = field(default_factory=set)

    def add(self, other: Written) -> None:
        """Add other counts."""
        self.records += other.records
        self.rows += other.rows
        self.deletions += other.deletions
        self.unknown += other.unknown
        self.awaited |= other.awaited
        for name in ("ignored", "failed", "waiting", "after"):
            getattr(self, name).update(getattr(other, name))
        self._bound()

    def note_waiting(self, key: SchemaKey) -> None:
        """Count a record that waits; random ids must not fill the memory."""
        self.unknown += 1
        self.waiting[key] += 1
        self._bound()

    def _bound(self) -> None:
        if len(self.waiting) > 2 * MAX_WAITING:
            self.waiting = Counter(dict(self.waiting.most_common(MAX_WAITING)))


class Pace:
    """Limits the rate of rows, the last ones too; None sets no limit."""

    def __init__(
        self,
        rows_per_second: float | None,
        *,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._rows_per_second = rows_per_second
        self._sleep = sleep
        self._clock = clock
        self._last = clock()

    def wait(self, rows: int) -> None:
        """Wait until these rows, just written, have taken their time; unused time is lost."""
        if self._rows_per_second is None:
            return
        owed = self._last + rows / self._rows_per_second - self._clock()
        if owed > 0:
            self._sleep(owed)
        self._last = self._clock()


@dataclass(frozen=True, slots=True)
class OutcomeWriter:
    """Writes rows and deletions to their table, and dead letters to theirs; for one thread.

    Attributes:
        writer: the writer of the table.
        errors: where failed records go, those too that the table rejects.
        reader: gives up records that the table rejects.
        pace: limits the rate of rows.
        after_write: takes the rows that the table has.
    """

    writer: RowWriter
    errors: ErrorSink
    reader: RecordReader
    pace: Pace | None = None
    after_write: AfterWrite | None = None

    def write(self, outcomes: Iterable[Outcome]) -> Written:
        """Write the outcomes of records; idempotent.

        Rows are written and dropped while outcomes are read; some may be written before an error.

        Raises:
            SinkAccessDeniedError, SinkUnavailableError: some may be written; writing all of them
                again is safe.
        """
        done = Written()
        made: list[tuple[Record, bool, Mapping[str, Any]]] = []
        failed: list[FailedRecord] = []
        refused = self.writer.write(self._make_rows(outcomes, done, made, failed))
        failed += [self.reader.give_up(made[at][0], error) for at, error in refused.items()]
        self.errors.keep(failed)
        done.failed.update(each.failure.reason for each in failed)
        written = [each for at, each in enumerate(made) if at not in refused]
        done.deletions = sum(is_deletion for _, is_deletion, _ in written)
        done.rows = len(written) - done.deletions
        if self.pace:
            self.pace.wait(len(made))
        if self.after_write:
            give_up = self.reader.give_up
            done.after, done.awaited = self.after_write(
                [(values, partial(give_up, record)) for record, _, values in written]
            )
        return done

    def _make_rows(
        self,
        outcomes: Iterable[Outcome],
        done: Written,
        made: list[tuple[Record, bool, Mapping[str, Any]]],
        failed: list[FailedRecord],
    ) -> Iterator[Mapping[str, Any]]:
        """Yield the rows to write, and note all outcomes; rows are kept only for the next step."""
        for outcome in outcomes:
            done.records += 1
            match outcome:
                case Row() | Deletion():
                    kept = outcome.values if self.after_write else {}
                    made.append((outcome.record, isinstance(outcome, Deletion), kept))
                    yield outcome.values
                case FailedRecord():
                    failed.append(outcome)
                case Waiting():
                    done.note_waiting(outcome.schema)
                case Ignored():
                    done.ignored[outcome] += 1
