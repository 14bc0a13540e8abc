"""Tables without Spark: their columns, and which batches a table has, as its history tells."""

from __future__ import annotations

from penstock.tables.columns import (
    COORDINATES,
    EVENT_TIME,
    VOID,
    Array,
    Column,
    ColumnType,
    Growth,
    Map,
    NewColumn,
    NewType,
    Struct,
    compare_columns,
    merge_columns,
)
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
    "COORDINATES",
    "EVENT_TIME",
    "LEAST_KEPT_HOURS",
    "MARKER_KEYS",
    "VOID",
    "Array",
    "BatchId",
    "Column",
    "ColumnType",
    "Commit",
    "Growth",
    "Map",
    "Marker",
    "NewColumn",
    "NewType",
    "Struct",
    "WriterRecord",
    "compare_columns",
    "is_written",
    "list_writers",
    "merge_columns",
    "refresh_record",
]
