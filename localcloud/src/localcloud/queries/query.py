"""A query: its text, its state, its result."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum, StrEnum

from localcloud.errors import LocalcloudError

_AGAIN_SECONDS = 0.02


class QueryFailedError(LocalcloudError):
    """A query that ends as FAILED; the message is Athena's."""


class ScanLimitError(LocalcloudError):
    """A query that exceeds the scan limit of its work group."""


class StatementKind(Enum):
    """The statements: Athena's type and subtype of them."""

    SELECT = ("DML", "SELECT")
    CREATE_TABLE_AS = ("DDL", "CREATE_TABLE_AS_SELECT")
    CREATE_VIEW = ("DDL", "CREATE_VIEW")
    DROP_TABLE = ("DDL", "DROP_TABLE")
    DROP_VIEW = ("DDL", "DROP_VIEW")


class QueryState(StrEnum):
    """The states of a query."""

    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"

    @property
    def final(self) -> bool:
        """Return whether the state is final."""
        return self not in {QueryState.QUEUED, QueryState.RUNNING}


@dataclass(frozen=True, slots=True)
class Result:
    """Columns as (name, type), rows of text or None, the bytes scanned, and what was written."""

    columns: tuple[tuple[str, str], ...]
    rows: list[tuple[str | None, ...]] = field(repr=False)
    scanned_bytes: int
    written_rows: int = 0
    written_files: tuple[str, ...] = ()


@dataclass(slots=True)
class Query:
    """One execution of a query."""

    id: str
    sql: str
    database: str
    kind: StatementKind
    output: str  # the folder of results
    output_is_enforced: bool
    parameters: tuple[str, ...] = ()
    state: QueryState = QueryState.QUEUED
    reason: str = ""
    result: Result | None = None
    submitted: datetime = field(default_factory=lambda: datetime.now(UTC))
    completed: datetime | None = None
    interrupt: Callable[[], None] = field(default=lambda: None, repr=False)
    over: threading.Event = field(default_factory=threading.Event, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def go_to(self, state: QueryState, reason: str = "") -> None:
        """Change the state; a final state never changes."""
        with self._lock:
            if self.state.final:
                return
            self.state, self.reason = state, reason
            if state.final:
                self.completed = datetime.now(UTC)

    def cancel(self, reason: str, seconds: float) -> None:
        """Cancel it, and wait up to a limit until it no longer runs."""
        self.go_to(QueryState.CANCELLED, reason)
        deadline = time.monotonic() + seconds
        # Repeatedly: DuckDB forgets an interrupt that comes before the query begins.
        while not self.over.wait(_AGAIN_SECONDS) and time.monotonic() < deadline:
            self.interrupt()
