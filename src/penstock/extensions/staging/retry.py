"""Retry joins of rows whose dependencies were missing, and park records that failed too often.

Several runs may be active at the same time. Only one of them counts a failure or parks a record:
the one whose conditional write of the dead letter succeeds.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from penstock.errors import Failure, Reason, SinkError, UnroutableError
from penstock.extensions.staging.join import Joiner, JoinResult, Key, read_name
from penstock.records import read_letter_id
from penstock.sinks import ROWS_AT_ONCE, DeadLetter, ParkedRecords, Selection

_LOG = logging.getLogger(__name__)

_MOST_PARKED: Final = 1_000  # records in one notice, before their dead letters are marked


@dataclass(slots=True)
class RetryCounts:
    """The counts of a run; `is_complete` is false if the run had no time for all due rows.

    `lost` are the records that were to be parked, and whose bytes the bucket does not have.
    """

    joined: int = 0
    waiting: int = 0
    parked: int = 0
    lost: int = 0
    notices: int = 0
    is_complete: bool = False


class Retries:
    """Retries the joins of a plan, in one thread; `name` must be unique to the run."""

    def __init__(self, joiner: Joiner, parked: ParkedRecords, name: str) -> None:
        self._joiner = joiner
        self._errors = joiner.errors
        self._parked = parked
        self._name = name
        self._to_announce: list[tuple[DeadLetter, str]] = []

    def run(self, now_s: int, has_time: Callable[[], bool], counts: RetryCounts) -> None:
        """Retry the due rows while there is time. A run that ends early loses no finished work.

        `counts` has what was done if it fails too.

        Raises:
            SinkAccessDeniedError, SinkUnavailableError: run again; finished rows are not repeated.
        """
        try:
            counts.is_complete = self._run(Selection(due_s=now_s), has_time, counts)
        except SinkError:  # perhaps of one record's bytes alone
            self._write_notice(counts)
            raise
        self._write_notice(counts)

    def _run(self, selection: Selection, has_time: Callable[[], bool], counts: RetryCounts) -> bool:
        """Retry and park the due rows while there is time; return whether it sufficed."""
        due = self._errors.find_unjoined(selection)
        while has_time():
            ids = list(islice(due, ROWS_AT_ONCE))
            for row in self._retry(self._errors.describe_rows(ids, selection.matches), counts):
                if not has_time():
                    return False
                self._park(row, counts)
            if len(self._to_announce) >= _MOST_PARKED:
                self._write_notice(counts)
            if len(ids) < ROWS_AT_ONCE:
                return True
        return False

    def _retry(self, rows: Sequence[DeadLetter], counts: RetryCounts) -> Iterator[DeadLetter]:
        """Retry rows; then yield those to park, whose next retry is put off before."""
        spent = []
        for row, result in self._join_rows([row for row in rows if not row.is_spent]):
            if result.failure is None or not result.is_of(row.id):
                counts.joined += self._errors.mark_done(row.id, self._name)
                self._delete_waiting(row)
            elif self._errors.count_retry(row, result.failure, result.missing):
                failed = replace(
                    row,
                    attempts=row.attempts + 1,
                    reason=result.failure.reason,
                    waiting_for=result.missing,
                )
                is_last = failed.is_spent or not _may_be_joined(result)
                counts.waiting += not is_last
                spent += [failed] if is_last else []
        yield from spent
        # Rows that an earlier run did not park, because it ended before.
        yield from (row for row in rows if row.is_spent and self._errors.claim(row))

    def _park(self, row: DeadLetter, counts: RetryCounts) -> None:
        """Put the record of a row; if its bytes are lost, it stays open and comes again."""
        for whole in self._errors.read([row.id], lambda now: _is_as_tried(now, row)):
            if whole.lost:
                counts.lost += 1
                _LOG.warning(
                    "the row %s cannot be parked: %s, expected what the row has no room for; bring "
                    "the object back, or delete the row",
                    row.id,
                    whole.lost,
                )
                return
            self._delete_waiting(row)  # before it is parked, so that no new record can release it
            self._to_announce.append((row, self._parked.put(whole)))

    def _join_rows(self, rows: Iterable[DeadLetter]) -> Iterator[tuple[DeadLetter, JoinResult]]:
        """Yield each row with the result of joining its driver's row."""
        by_table: dict[str, list[tuple[DeadLetter, Key]]] = {}
        for row in rows:
            try:
                table, key = read_name(self._joiner.plan, row.driver)
            except UnroutableError as error:  # only an older plan has the table
                yield row, _make_failed_result(row, error)
                continue
            by_table.setdefault(table.name, []).append((row, key))
        for name, own in by_table.items():
            results = self._joiner.resolve(self._joiner.plan.table(name), [key for _, key in own])
            for row, key in own:
                result = results[key]
                if not result.source:  # a key of an older plan may look the same
                    result = _make_failed_result(row, _make_missing_error(row))
                yield row, result

    def _write_notice(self, counts: RetryCounts) -> None:
        """Publish one notice of the parked records, and mark their dead letters as parked."""
        settled = self._errors.find_settled([row.id for row, _ in self._to_announce])
        spent = [(row, place) for row, place in self._to_announce if row.id not in settled]
        self._to_announce = []
        if not spent:
            return
        places = [place for _, place in spent]
        reasons = Counter(str(row.reason) for row, _ in spent)
        self._parked.announce(places, reasons, f"{self._name}-{counts.notices}")
        counts.notices += 1
        for row, place in spent:
            counts.parked += self._errors.mark_parked(row.id, place, self._name, row.attempts)

    def _delete_waiting(self, row: DeadLetter) -> None:
        """Delete the item of the waiting table that a row has."""
        for waiting_for in row.waiting_for[:1]:
            self._joiner.waiting.forget(waiting_for, row.driver, row.id)


def _is_as_tried(now: DeadLetter, row: DeadLetter) -> bool:
    """Return whether a row is open and has no other attempts than when it was tried."""
    return not now.settled and now.attempts == row.attempts


def _make_missing_error(row: DeadLetter) -> UnroutableError:
    return UnroutableError(f"found no row {row.driver}, expected the row that waits")


def _make_failed_result(row: DeadLetter, error: UnroutableError) -> JoinResult:
    """Return the result for a dead letter whose driver's row cannot be read."""
    failure = Failure.of(error)
    _, record_id = read_letter_id(row.id)
    return JoinResult((), row.driver, "", record_id, failure, missing=row.waiting_for)


def _may_be_joined(result: JoinResult) -> bool:
    """Return whether a later retry may succeed: the dependencies or the old plan may come back."""
    is_unmet = result.failure is None or result.failure.reason is Reason.UNMET_DEPENDENCY
    return is_unmet or not result.source
