"""Join rows of staged tables on Spark's executors, when they are written."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from penstock.errors import Reason
from penstock.records import DELETED
from penstock.spark.query.dynamodb import Written
from penstock.staging import JoinCounts, Joiner, JoinEvent, JoinTables, Role, StagingPlan

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

    def follow(self, written: Sequence[Written]) -> JoinCounts:
        """Join the rows of a chunk, or those that wait for them; idempotent.

        Raises:
            SinkAccessDeniedError, SinkUnavailableError: some may be joined; write the chunk again.
        """
        table = self.plan.table(self.table)
        joiner = _open(self.tables, self.plan)
        counts = JoinCounts()
        if self.plan.dependents(self.table):
            # A deleted row releases nothing.
            counts += joiner.release(table, [row for row, _ in written if DELETED not in row])
        if table.role is Role.DRIVER:
            counts += joiner.join(table, written)
        return counts

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
