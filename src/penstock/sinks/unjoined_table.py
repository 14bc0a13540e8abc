"""The dead letters of records that were not joined, which the retry function owns."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from penstock.errors import Failure
from penstock.sinks._updates import RETELL, UNSETTLED, retell
from penstock.sinks.dead_letter import DeadLetter
from penstock.sinks.dynamodb_client import DynamoDbClient
from penstock.sinks.error_table import JOIN, ErrorTable
from penstock.sinks.object_store import ObjectStore
from penstock.sinks.selection import Selection

# No other program has retried or settled the row since it was read.
_UNCHANGED: Final = f"{UNSETTLED} AND nextAttemptAt = :seen"


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
        return self._query(JOIN, selection)

    def count_unjoined(self, selection: Selection, has_time: Callable[[], bool]) -> int:
        """Return the number of rows that match in the index, of the pages read while there is time.

        The time is asked for after each page.
        """
        count = 0
        for ids in self._query_pages(JOIN, selection):
            count += len(ids)
            if not has_time():
                break
        return count

    def find_settled(self, ids: Sequence[str]) -> set[str]:
        """Return those ids whose rows are done or parked."""
        return {row["id"] for row in self._rows(ids, lambda row: row.settled)}

    def find_parked(self, ids: Sequence[str]) -> set[str]:
        """Return those ids whose rows are parked."""
        return {row["id"] for row in self._rows(ids, lambda row: row.settled) if "parkedAt" in row}

    def count_retry(self, row: DeadLetter, failure: Failure, waiting_for: Sequence[str]) -> bool:
        """Count a failed retry of a row as it was read; of several at once, one returns True."""
        return self._tell(
            row.id,
            f"SET #attempts = #attempts + :one, {RETELL}, waitingFor = :rows, "
            "nextAttemptAt = :next",
            {
                ":one": 1,
                ":rows": list(waiting_for),
                ":seen": row.next_attempt_s,
                **retell(failure),
                **self._next(row.attempts + 1),
            },
            _UNCHANGED,
        )

    def claim(self, row: DeadLetter) -> bool:
        """Put the next retry of a row off, as it was read; of several at once, one returns True."""
        values: dict[str, Any] = {":seen": row.next_attempt_s, **self._next(row.attempts)}
        return self._tell(row.id, "SET nextAttemptAt = :next", values, _UNCHANGED)

    def change_failure(self, row_id: str, failure: Failure, waiting_for: Sequence[str]) -> bool:
        """Replace the failure of an open row, without counting a retry."""
        values = {":rows": list(waiting_for), **retell(failure)}
        return self._tell(row_id, f"SET {RETELL}, waitingFor = :rows", values, UNSETTLED)

    def _wait(self, failures: int) -> int:
        return int(self._first_wait_seconds * 2**failures)
