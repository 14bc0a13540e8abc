"""One line of JSON for each batch of a streaming job, printed when Spark reports its progress.

| field | what it counts |
| --- | --- |
| in | records that the batch read |
| out | rows that it wrote |
| left_out | records that are not sales, or that could not be decoded |
| future | sales whose time is too far in the future |
| late | sales that are older than the watermark |
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeAlias

from pyspark.sql import SparkSession

from penstock.spark import BatchLines

SalesLines: TypeAlias = BatchLines[Mapping[str, Any]]


def write_line(progress: Mapping[str, Any], written: Mapping[str, Any]) -> str:
    """Return the line of a batch; a count in `written` replaces the count of Spark."""
    labels = {"service": "sales", "query": progress["id"], "batch": progress["batchId"]}
    return json.dumps({**labels, **write_fields(progress), **written})


def write_fields(progress: Mapping[str, Any]) -> dict[str, Any]:
    """Return the counts in Spark's progress of a batch, and the watermark if there is one."""
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
def print_batches(spark: SparkSession) -> Iterator[SalesLines]:
    """Print a line for each batch of the block; wait for the last line at the end of the block."""
    lines: SalesLines = BatchLines(spark, write_line)
    try:
        yield lines
    finally:
        lines.wait()
