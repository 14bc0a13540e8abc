"""Join rows of staged tables on Spark's executors, when they are written."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from penstock.consuming import WrittenRow
from penstock.errors import Reason
from penstock.extensions.staging import JoinCounts, Joiner, JoinEvent, JoinTables, Role, StagingPlan
from penstock.records import DELETED

_METRICS: Final = {
    JoinEvent.JOINED: "RecordsJoined",
    JoinEvent.RELEASED: "RecordsReleased",
    JoinEvent.WAITING: "RecordsDelayed",
}


@dataclass(frozen=True, slots=True)
class JoinStep:
    """The step after a chunk of rows is written: it joins drivers, and other rows release them.

    It is sent to the executors.
    """

    plan: StagingPlan
    table: str
    tables: JoinTables
    service: str

    def __call__(self, written: Sequence[WrittenRow]) -> tuple[JoinCounts, set[str]]:
        """Join the rows of a chunk if they are drivers'; return what others wait for; idempotent.

        Raises:
            SinkAccessDeniedError, SinkUnavailableError: some may be joined; write the chunk again.
        """
        table = self.plan.table(self.table)
        awaited: list[str] = []
        if self.plan.dependents(self.table):
            rows = [dict(row) for row, _ in written if DELETED not in row]  # nobody waits for those
            awaited = _open(self.tables, self.plan).find_awaited(table, rows)
        if table.role is not Role.DRIVER:
            return JoinCounts(), set(awaited)
        taken = [(dict(row), give_up) for row, give_up in written]
        return _open(self.tables, self.plan).join(table, taken), set(awaited)

    def release(self, awaited: Iterable[str]) -> JoinCounts:
        """Join the rows that wait for staged rows, by their names; idempotent.

        Raises:
            SinkAccessDeniedError, SinkUnavailableError: some may be joined; release all again.
        """
        return _open(self.tables, self.plan).release(awaited)

    def report(self, counts: Counter[Any]) -> Counter[Reason]:
        """Print the counts of joins as metrics, and return the others."""
        figures = {name: counts[event] for event, name in _METRICS.items() if counts[event]}
        if figures:
            print(_write_report(self.service, self.table, figures), flush=True)
        return Counter({key: count for key, count in counts.items() if isinstance(key, Reason)})


@cache
def _open(tables: JoinTables, plan: StagingPlan) -> Joiner:
    """Connect once per Python process, which runs one task at a time."""
    return tables.open(plan)


def _write_report(service: str, table: str, figures: dict[str, int]) -> str:
    """Return a line of JSON from which CloudWatch reads the metrics (see `report`)."""
    metrics = [{"Name": name, "Unit": "Count"} for name in figures]
    directive = {"Namespace": "Penstock", "Dimensions": [["service"]], "Metrics": metrics}
    emf = {"Timestamp": int(time.time() * 1000), "CloudWatchMetrics": [directive]}
    return json.dumps({"service": service, "table": table, **figures, "_aws": emf})
