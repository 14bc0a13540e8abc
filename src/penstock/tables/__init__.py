"""Tables without Spark: which batches a table has, as its own history tells."""

from __future__ import annotations

from penstock.tables.markers import (
    LEAST_KEPT_HOURS,
    MARKER_KEYS,
    BatchId,
    Commit,
    Marker,
    WriterRecord,
    is_written,
    list_writers,
    refresh_record,
)

__all__ = [
    "LEAST_KEPT_HOURS",
    "MARKER_KEYS",
    "BatchId",
    "Commit",
    "Marker",
    "WriterRecord",
    "is_written",
    "list_writers",
    "refresh_record",
]
