"""Columns of a Glue table of Parquet files (`penstock.tables`) as types of Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pyspark.sql.types import StructType

from penstock import tables
from penstock.errors import SchemaConflictError
from penstock.spark.columns import compare_columns, read_columns, to_spark
from penstock.tables import (
    Struct,
    name_fields,
    read_glue_column,
    write_glue_columns,
)

# The partition keys of tables of plain files, with their types.
PARTITION_KEYS: Final = {"query": "string", "batch": "bigint", "part": "int", "day": "date"}


def hold_event(columns: StructType, event: StructType) -> StructType:
    """Return columns of files, widened and extended so that they hold an event's fields.

    Penstock's own columns are added too. The names of partition keys stay free.

    Raises:
        SchemaConflictError: no column can hold both the type of a column and that of its field.
    """
    held = tables.hold_event(read_columns(columns), read_columns(event), PARTITION_KEYS)
    return to_spark(held)


def read_file_columns(columns: Sequence[Mapping[str, Any]], event: StructType) -> StructType:
    """Return the columns of a Glue table with the names and fields that files have them by."""
    fields = read_columns(event)
    named = tables.hold_event(Struct(), fields, PARTITION_KEYS)
    return to_spark(name_fields(Struct(tuple(map(read_glue_column, columns))), named, fields))


def grow_columns(
    table: str, columns: Sequence[dict[str, Any]], event: StructType
) -> list[dict[str, Any]]:
    """Return the columns of a Glue table, so that they hold an event's fields too.

    Raises:
        SchemaConflictError: files that were written before cannot be read with the wider type.
    """
    before = read_file_columns(columns, event)
    merged = hold_event(before, event)
    for column in compare_columns(before, merged).rewritten:
        old, new = before[column.name].dataType, merged[column.name].dataType
        raise SchemaConflictError(
            f"{table}: the column {column.name} is {old.simpleString()} and the records need "
            f"{new.simpleString()}, expected a type that reads the Parquet files written before: "
            "write these records to another folder and table",
            path=column.name,
        )
    return write_glue_columns(columns, read_columns(merged))
