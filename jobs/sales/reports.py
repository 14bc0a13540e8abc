"""One line of JSON for each batch of a streaming job, once Spark has its progress.

| field | counts |
| --- | --- |
| in | records that the batch read |
| out | rows that it wrote |
| left_out | records that are not sales, or that could not be decoded |
| future | sales whose time is too far in the future |
| late | sales that came after the wait for late ones |
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import (
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)

from penstock.attempts import Attempts

_REPORTED: Final = Attempts(0.05, 0.05, 5)


class BatchLines(StreamingQueryListener):
    """Prints the line of each batch that was written."""

    def __init__(self, say: Callable[[str], None] = print) -> None:
        self._written: dict[tuple[str, int], Mapping[str, Any]] = {}
        self._say = say

    def add(self, query: str, batch: int, **fields: Any) -> None:
        """Add a batch that was written, with what its line says besides the counts of Spark."""
        self._written[query, batch] = fields

    def wait(self) -> None:
        """Wait for the lines of batches that are over; Spark reports them a moment later."""
        any(not self._written for _ in _REPORTED)

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # Spark's name
        """Do nothing."""

    def onQueryProgress(self, event: QueryProgressEvent) -> None:
        """Print the line of a batch; triggers that found nothing to read have none."""
        key = str(event.progress.id), event.progress.batchId
        if key in self._written:
            name = {"service": "sales", "query": key[0], "batch": key[1]}
            counts = write_fields(json.loads(event.progress.json))
            self._say(json.dumps({**name, **counts, **self._written.pop(key)}))

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:
        """Do nothing; the caller that awaits the query reports why it ended."""


def write_fields(progress: Mapping[str, Any]) -> dict[str, Any]:
    """Return the counts in Spark's progress of a batch, and its watermark if it has one."""
    metrics = progress.get("observedMetrics", {})
    operators = progress.get("stateOperators", [])
    watermark = progress.get("eventTime", {}).get("watermark")
    return {
        "in": progress["numInputRows"],
        "left_out": sum(each.get("left_out", 0) for each in metrics.values()),
        "future": sum(each.get("future", 0) for each in metrics.values()),
        "late": sum(each["numRowsDroppedByWatermark"] for each in operators),
        **({"watermark": watermark} if watermark else {}),
    }


@contextmanager
def print_batches(spark: SparkSession) -> Iterator[BatchLines]:
    """Print the lines of batches meanwhile, the last one before the end."""
    lines = BatchLines()
    spark.streams.addListener(lines)
    try:
        yield lines
    finally:
        lines.wait()
        spark.streams.removeListener(lines)
