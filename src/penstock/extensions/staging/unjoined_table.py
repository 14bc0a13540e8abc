"""The dead letters of records that were not joined, which the retry function owns."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

from penstock.errors import Failure
from penstock.sinks import (
    JOIN,
    DeadLetter,
    DynamoDbClient,
    ErrorTable,
    ObjectStore,
    Selection,
    Update,
    update_each,
    update_row,
)

# No other program has retried the row since it was read.
_UNCHANGED: Final = "nextAttemptAt = :seen"


class UnjoinedTable(ErrorTable):
    """The dead-letter table with growing delays: the first retry after a delay, which doubles."""

    def __init__(
        self,
        client: DynamoDbClient,
        table: str,
        store: ObjectStore,
        first_wait_seconds: int,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(client, table, store, clock=clock)
        self._first_wait_seconds = first_wait_seconds

    def find_unjoined(self, selection: Selection) -> Iterator[str]:
        """Yield the ids of rows that match in the index, the next due first."""
        return chain.from_iterable(self.find_pages(JOIN, selection))

    def count_unjoined(self, selection: Selection, has_time: Callable[[], bool]) -> int:
        """Return the number of rows that match in the index, of the pages read while there is time.

        The time is asked for after each page.
        """
        count = 0
        for ids in self.find_pages(JOIN, selection):
            count += len(ids)
            if not has_time():
                break
        return count

    def describe_rows(
        self, ids: Sequence[str], matches: Callable[[DeadLetter], bool]
    ) -> list[DeadLetter]:
        """Return the rows for `ids` that match, without raw bytes; skip ids without a row."""
        return [DeadLetter.describe(row) for row in self._rows(ids, matches)]

    def find_settled(self, ids: Sequence[str]) -> set[str]:
        """Return those ids whose rows are done or parked."""
        return {row["id"] for row in self._rows(ids, lambda row: row.settled)}

    def find_parked(self, ids: Sequence[str]) -> set[str]:
        """Return those ids whose rows are parked."""
        return {row["id"] for row in self._rows(ids, lambda row: row.settled) if "parkedAt" in row}

    def count_retry(self, row: DeadLetter, failure: Failure, waiting_for: Sequence[str]) -> bool:
        """Count a failed retry of a row as it was read; of several at once, one returns True."""
        update = self.make_change(
            row.id,
            "#attempts = #attempts + :one, waitingFor = :rows, nextAttemptAt = :next",
            {
                ":one": 1,
                ":rows": list(waiting_for),
                ":seen": row.next_attempt_s,
                **self._next_attempt(row.attempts + 1),
            },
            _UNCHANGED,
            failure,
        )
        return update_row(self._client, *update)

    def claim(self, row: DeadLetter) -> bool:
        """Put the next retry of a row off, as it was read; of several at once, one returns True."""
        values = {":seen": row.next_attempt_s, **self._next_attempt(row.attempts)}
        update = self.make_change(row.id, "nextAttemptAt = :next", values, _UNCHANGED)
        return update_row(self._client, *update)

    def end_waits(self, ended: Iterable[tuple[str, Failure | None, Sequence[str]]]) -> None:
        """Mark rows as done, or replace the failure of open ones, without counting a retry.

        Each is an id, with the failure that the row has now and the rows that it lacks.
        """
        update_each(self._client, (self._make_end(*each) for each in ended))

    def _make_end(self, row_id: str, failure: Failure | None, waiting_for: Sequence[str]) -> Update:
        if failure is None:
            return self._make_done(row_id, JOIN)
        values = {":rows": list(waiting_for)}
        return self.make_change(row_id, "waitingFor = :rows", values, failure=failure)

    def _delay_seconds(self, failures: int) -> int:
        return int(self._first_wait_seconds * 2**failures)
