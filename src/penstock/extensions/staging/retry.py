"""Join rows again whose dependencies were missing, when their retries are due; park the rest.

Several runs at the same time do no harm: a failure is counted, and a record parked, only by the run
that changes the dead letter as it was read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from penstock.errors import Failure, Reason, UnroutableError
from penstock.extensions.staging.join import Joiner, JoinResult, Key, read_name
from penstock.records import read_letter_id
from penstock.sinks import ROWS_AT_ONCE, DeadLetter, ParkedRecords, Selection

_MOST_PARKED: Final = 1_000  # records of one notice; their dead letters are marked after it


@dataclass(slots=True)
class RetryCounts:
    """The counts of a run; `is_complete` is false if its time was over first."""

    joined: int = 0
    waiting: int = 0
    parked: int = 0
    notices: int = 0
    is_complete: bool = False


class Retries:
    """Runs of the retries of one plan; for one thread. `name` is unique to the run."""

    def __init__(self, joiner: Joiner, parked: ParkedRecords, name: str) -> None:
        self._joiner = joiner
        self._errors = joiner.errors
        self._parked = parked
        self._name = name
        self._spent: list[tuple[DeadLetter, str]] = []

    def run(self, now_s: int, has_time: Callable[[], bool]) -> RetryCounts:
        """Retry what is due while there is time; what was done stays done if the run ends early.

        Raises:
            SinkAccessDeniedError, SinkUnavailableError: run again; what is done is not repeated.
        """
        selection = Selection(due_s=now_s)
        counts = RetryCounts()
        due = self._errors.find_unjoined(selection)
        while has_time():
            ids = list(islice(due, ROWS_AT_ONCE))
            self._retry(list(self._errors.read(ids, selection.matches)), counts)
            if len(self._spent) >= _MOST_PARKED or len(ids) < ROWS_AT_ONCE:
                self._announce(counts)
            if len(ids) < ROWS_AT_ONCE:
                counts.is_complete = True
                return counts
        self._announce(counts)
        return counts

    def _retry(self, rows: Sequence[DeadLetter], counts: RetryCounts) -> None:
        # An earlier run ended before it parked these.
        spent = [row for row in rows if row.is_spent and self._errors.claim(row)]
        for row, result in self._decide([row for row in rows if not row.is_spent]):
            if result.failure is None or not result.is_of(row.id):
                counts.joined += self._errors.mark_done(row.id, self._name)
                self._forget(row)
            elif self._errors.count_retry(row, result.failure, result.missing):
                failed = replace(
                    row,
                    attempts=row.attempts + 1,
                    reason=result.failure.reason,
                    detail=result.failure.detail,
                    waiting_for=result.missing,
                )
                is_over = failed.is_spent or not _may_be_joined(result)
                counts.waiting += not is_over
                spent += [failed] if is_over else []
        for row in spent:  # before it is parked, so that no arrival releases it any more
            self._forget(row)
        self._spent += [(replace(row, value=None), self._parked.put(row)) for row in spent]

    def _decide(self, rows: Iterable[DeadLetter]) -> Iterator[tuple[DeadLetter, JoinResult]]:
        """Yield each row with the result on its driver's row."""
        by_table: dict[str, list[tuple[DeadLetter, Key]]] = {}
        for row in rows:
            try:
                table, key = read_name(self._joiner.plan, row.driver)
            except UnroutableError as error:  # an older plan had it
                yield row, _refuse(row, error)
                continue
            by_table.setdefault(table.name, []).append((row, key))
        for name, own in by_table.items():
            results = self._joiner.resolve(self._joiner.plan.table(name), [key for _, key in own])
            for row, key in own:
                is_gone = not results[key].source  # a key of another plan may have the same form
                yield row, _refuse(row, _gone(row)) if is_gone else results[key]

    def _announce(self, counts: RetryCounts) -> None:
        """Write one notice of the parked records, and mark their dead letters."""
        settled = self._errors.find_settled([row.id for row, _ in self._spent])
        spent = [(row, place) for row, place in self._spent if row.id not in settled]
        self._spent = []
        if not spent:
            return
        places = [place for _, place in spent]
        reasons = Counter(str(row.reason) for row, _ in spent)
        self._parked.announce(places, reasons, f"{self._name}-{counts.notices}")
        counts.notices += 1
        for row, place in spent:
            counts.parked += self._errors.mark_parked(row.id, place, self._name)

    def _forget(self, row: DeadLetter) -> None:
        """Delete the item that says that a record waits."""
        for waiting_for in row.waiting_for[:1]:
            self._joiner.waiting.forget(waiting_for, row.driver, row.id)


def _gone(row: DeadLetter) -> UnroutableError:
    return UnroutableError(f"found no row {row.driver}, expected the row that waits")


def _refuse(row: DeadLetter, error: UnroutableError) -> JoinResult:
    """Return the result on a dead letter whose driver's row cannot be read."""
    failure = Failure.of(error)
    _, record_id = read_letter_id(row.id)
    return JoinResult((), row.driver, "", record_id, failure, missing=row.waiting_for)


def _may_be_joined(result: JoinResult) -> bool:
    """Return whether a later retry may join a row: its dependencies may come, or its plan again."""
    is_unmet = result.failure is None or result.failure.reason is Reason.UNMET_DEPENDENCY
    return is_unmet or not result.source
