"""Tables without Spark: their columns, and which batches a table has, as its history tells."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from penstock.tables.columns import (
    COORDINATES,
    EVENT_TIME,
    PARTITION_KEYS,
    Array,
    Column,
    ColumnType,
    Growth,
    Map,
    NewColumn,
    NewType,
    Struct,
    compare_columns,
    cut_comment,
    merge_columns,
)
from penstock.tables.differences import Difference
from penstock.tables.events import list_members, name_member, read_event
from penstock.tables.glue_columns import (
    OWN_COLUMNS,
    hold_event,
    name_fields,
    read_glue_column,
    write_glue_column,
    write_glue_columns,
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
from penstock.tables.routes import TABLE, parse_route

if TYPE_CHECKING:
    from penstock.tables.inspection import (
        Inspection,
        Limits,
        SyncedTable,
        TableTarget,
        inspect_tables,
        sync_tables,
    )

__all__ = [
    "COORDINATES",
    "EVENT_TIME",
    "LEAST_KEPT_HOURS",
    "MARKER_KEYS",
    "OWN_COLUMNS",
    "PARTITION_KEYS",
    "TABLE",
    "Array",
    "BatchId",
    "Column",
    "ColumnType",
    "Commit",
    "Difference",
    "Growth",
    "Inspection",
    "Limits",
    "Map",
    "Marker",
    "NewColumn",
    "NewType",
    "Struct",
    "SyncedTable",
    "TableTarget",
    "WriterRecord",
    "compare_columns",
    "cut_comment",
    "hold_event",
    "inspect_tables",
    "is_written",
    "list_members",
    "list_writers",
    "merge_columns",
    "name_fields",
    "name_member",
    "parse_route",
    "read_event",
    "read_glue_column",
    "refresh_record",
    "sync_tables",
    "write_glue_column",
    "write_glue_columns",
]

_IMPORTED_LATER = {
    "Inspection",
    "Limits",
    "SyncedTable",
    "TableTarget",
    "inspect_tables",
    "sync_tables",
}


def __getattr__(name: str) -> Any:
    """Import the names that need pyiceberg and pyarrow on first use."""
    if name in _IMPORTED_LATER:
        return getattr(import_module("penstock.tables.inspection"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
