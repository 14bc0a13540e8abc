"""One line of JSON for each batch, which CloudWatch also reads metrics from.

The line has CloudWatch's embedded metric format: whatever brings it into a log group makes the
metrics, so that a job needs neither the right nor the way to the metrics' API.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any, Final

from pyspark.sql.streaming.listener import (
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)

from penstock.errors import Reason
from penstock.spark.state.losses import OffsetRange

_NAMESPACE: Final = "Penstock"
_UNITS: Final = {
    "Records": "Count",
    "Rows": "Count",
    "PermanentErrors": "Count",
    "LostRecords": "Count",
    "NewSchemas": "Count",
    "RecordsBehind": "Count",
    "BatchDuration": "Milliseconds",
}


@dataclass(frozen=True, slots=True)
class BatchCounts:
    """What a batch came to."""

    records: int
    rows: int
    schemas: int
    new_schemas: int
    errors: Mapping[Reason, int] = field(default_factory=dict)
    lost: tuple[OffsetRange, ...] = ()


class ReportListener(StreamingQueryListener):
    """Says one line when a batch is done."""

    def __init__(
        self, counts: MutableMapping[int, BatchCounts], say: Callable[[str], None] = print
    ) -> None:
        """Take what batches leave their counts in."""
        self._counts = counts
        self._say = say

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # Spark's name
        """Nothing is done yet."""

    def onQueryProgress(self, event: QueryProgressEvent) -> None:
        """Say the line of a batch; triggers that found nothing to read have none."""
        counts = self._counts.pop(event.progress.batchId, None)
        if counts is not None:
            progress = json.loads(event.progress.json)
            self._say(write_report(progress, counts, int(time.time() * 1000)))

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:
        """Whoever waits for the query says why it ended."""


def write_report(progress: Mapping[str, Any], counts: BatchCounts, now_ms: int) -> str:
    """Write the line of a batch out of Spark's progress of it and what it came to."""
    took_ms = int(progress["durationMs"].get("triggerExecution", 0))
    lag = [_read_lag(source.get("metrics") or {}) for source in progress["sources"]]
    figures = {
        "Records": counts.records,
        "Rows": counts.rows,
        "PermanentErrors": sum(counts.errors.values()),
        "LostRecords": sum(map(len, counts.lost)),
        "NewSchemas": counts.new_schemas,
        "RecordsBehind": max((each for each in lag if each is not None), default=None),
        "BatchDuration": took_ms,
    }
    known = {name: value for name, value in figures.items() if value is not None}
    return json.dumps(
        {
            "service": "consume",
            "query": progress["id"],
            "batch": progress["batchId"],
            "offsets": [_read_offsets(source) for source in progress["sources"]],
            "rows_per_second": round(counts.rows * 1000 / took_ms, 1) if took_ms else None,
            "schemas": counts.schemas,
            "errors": {str(reason): count for reason, count in sorted(counts.errors.items())},
            "lost": [str(each) for each in counts.lost],
            **known,
            "_aws": {
                "Timestamp": now_ms,
                "CloudWatchMetrics": [
                    {
                        "Namespace": _NAMESPACE,
                        "Dimensions": [["service"]],
                        "Metrics": [{"Name": name, "Unit": _UNITS[name]} for name in known],
                    }
                ],
            },
        }
    )


def _read_offsets(source: Mapping[str, Any]) -> dict[str, Any]:
    return {"start": source.get("startOffset"), "end": source.get("endOffset")}


def _read_lag(metrics: Mapping[str, str]) -> int | None:
    """Read how far the partition that is farthest behind is."""
    lag = metrics.get("maxOffsetsBehindLatest")
    return None if lag is None else int(float(lag))
