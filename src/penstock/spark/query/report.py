"""Write one line of JSON for each batch, from which CloudWatch also reads metrics.

The line has CloudWatch's embedded metric format. CloudWatch creates the metrics when the line
arrives in a log group, so a job needs neither permission for the metrics API nor a route to it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from penstock.errors import Reason
from penstock.spark.state.losses import OffsetRange

_NAMESPACE: Final = "Penstock"
_UNITS: Final = {
    "BatchesFailed": "Count",
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
    """The counts of a batch, and of the tables of its topics, by their names."""

    records: int
    rows: int
    schemas: int
    new_schemas: int
    errors: Mapping[Reason, int] = field(default_factory=dict)
    lost: tuple[OffsetRange, ...] = ()
    empty: int = 0
    tombstones: int = 0
    tables: Mapping[str, BatchCounts] = field(default_factory=dict)


def write_report(
    service: str,
    progress: Mapping[str, Any],
    counts: BatchCounts,
    clock: Callable[[], float] = time.time,
) -> str:
    """Return the line of a job's batch, from Spark's progress report and the batch's counts."""
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
            "service": service,
            "query": progress["id"],
            "batch": progress["batchId"],
            "offsets": [_read_offsets(source) for source in progress["sources"]],
            "rows_per_second": round(counts.rows * 1000 / took_ms, 1) if took_ms else None,
            "schemas": counts.schemas,
            "errors": {str(reason): count for reason, count in sorted(counts.errors.items())},
            "lost": [str(each) for each in counts.lost],
            **({"tables": _describe_tables(counts.tables)} if counts.tables else {}),
            **known,
            "_aws": {
                "Timestamp": int(clock() * 1000),
                "CloudWatchMetrics": [_describe_metrics(known)],
            },
        }
    )


def write_failure(
    service: str, batch: int, error: Exception, clock: Callable[[], float] = time.time
) -> str:
    """Return the line of a batch whose error ends the query."""
    figures = {"BatchesFailed": 1}
    return json.dumps(
        {
            "service": service,
            "batch": batch,
            "kind": type(error).__name__,
            **figures,
            "_aws": {
                "Timestamp": int(clock() * 1000),
                "CloudWatchMetrics": [_describe_metrics(figures)],
            },
        }
    )


def _describe_metrics(names: Iterable[str]) -> dict[str, Any]:
    return {
        "Namespace": _NAMESPACE,
        "Dimensions": [["service"]],
        "Metrics": [{"Name": name, "Unit": _UNITS[name]} for name in names],
    }


def _describe_tables(tables: Mapping[str, BatchCounts]) -> dict[str, dict[str, Any]]:
    """Return the counts of each table that are not 0, as the whole batch's are named."""
    return {
        name: {"Records": each.records, "Rows": each.rows}
        | ({"empty": each.empty} if each.empty else {})
        | ({"tombstones": each.tombstones} if each.tombstones else {})
        | ({"errors": dict(sorted(each.errors.items()))} if each.errors else {})
        for name, each in sorted(tables.items())
    }


def _read_offsets(source: Mapping[str, Any]) -> dict[str, Any]:
    return {"start": source.get("startOffset"), "end": source.get("endOffset")}


def _read_lag(metrics: Mapping[str, str]) -> int | None:
    """Return the lag of the partition that is farthest behind."""
    lag = metrics.get("maxOffsetsBehindLatest")
    return None if lag is None else int(float(lag))
