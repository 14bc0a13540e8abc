"""Tables without Spark: their columns, and which batches a table has, as its history tells."""

from __future__ import annotations

from penstock.tables.columns import (
    COORDINATES,
    EVENT_TIME,
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
    match_fields,
    merge_columns,
)
from penstock.tables.events import list_members, name_member, read_event
from penstock.tables.glue_columns import (
    OWN_COLUMNS,
    TABLE_INPUT,
    hold_event,
    name_fields,
    read_glue_column,
    write_glue_columns,
)
from penstock.tables.hive_types import lower_names, lower_type, parse_type
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
from penstock.tables.names import mark_field, name_column, read_json_name, read_name
from penstock.tables.routes import TABLE, name_table, parse_route

__all__ = [
    "COORDINATES",
    "EVENT_TIME",
    "LEAST_KEPT_HOURS",
    "MARKER_KEYS",
    "OWN_COLUMNS",
    "TABLE",
    "TABLE_INPUT",
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
    "cut_comment",
    "hold_event",
    "is_written",
    "list_members",
    "list_writers",
    "lower_names",
    "lower_type",
    "mark_field",
    "match_fields",
    "merge_columns",
    "name_column",
    "name_fields",
    "name_member",
    "name_table",
    "parse_route",
    "parse_type",
    "read_event",
    "read_glue_column",
    "read_json_name",
    "read_name",
    "refresh_record",
    "write_glue_columns",
]
