"""What a part of a batch comes to, counted while it is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F

from penstock.attempts import Attempts
from penstock.errors import Reason
from penstock.spark.decoder import RowStatus
from penstock.spark.frames import FrameStatus

_FINE: Final = ", ".join(f"'{status}'" for status in (*RowStatus, FrameStatus.TOMBSTONE))
IS_ERROR: Final = f"status NOT IN ({_FINE})"
_MEASURES: Final = {
    "records": "TRUE",
    "rows": f"status = '{RowStatus.DECODED}'",
    "unknown": f"status = '{RowStatus.UNKNOWN}'",
    "later": f"status = '{RowStatus.LATER}'",
    "errors": IS_ERROR,
}
# Spark tells what it counted a moment after the last task.
_TOLD: Final = Attempts(0.01, 0.1, 2)


@dataclass(slots=True)
class Figures:
    """What a batch came to so far; `records` counts those of its first part."""

    records: int = 0
    rows: int = 0
    unknown: int = 0
    errors: Counter[Reason] = field(default_factory=Counter)

    def add(self, counts: Mapping[str, int]) -> None:
        """Add what a part came to."""
        self.records = self.records or counts["records"]
        self.rows += counts["rows"]
        self.unknown += counts["unknown"]

    def refuse(self, given_up: Mapping[Reason, int]) -> None:
        """Add what a sink gave up itself."""
        self.errors.update(given_up)


def count_while(judged: DataFrame, write: Callable[[DataFrame], None] | None) -> dict[str, int]:
    """Count by status what `write` reads; by a pass of its own where it reads nothing.

    A sink that has the part already reads nothing, and one that leaves Spark's plans (as `rdd`)
    reads without being watched.
    """
    measures = [F.expr(f"count_if({sql})").alias(name) for name, sql in _MEASURES.items()]
    if write is not None:
        observation = Observation()
        write(judged.observe(observation, *measures))
        if _is_told(observation):
            return observation.get
    (row,) = judged.agg(*measures).collect()
    counts: dict[str, int] = row.asDict()
    return counts


def _is_told(observation: Observation) -> bool:
    watched: Any = observation._jo
    return any(watched.future().isCompleted() for _ in _TOLD)
