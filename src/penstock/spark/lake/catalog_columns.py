"""Columns of a Glue table of Parquet files, whose files stay as they were written.

Hive's readers know names in lower case only. So a column `roomName` is `roomname` in Glue, with the
comment `field roomName`; the files keep `roomName`, which these readers match whatever its case.
Types are in lower case too; the column's parameter `penstock.type` has the exact one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pyspark.sql.types import StringType, StructField, StructType

from penstock.errors import SchemaConflictError
from penstock.spark.lake.columns import compare_columns, field_of, merge_columns, to_type
from penstock.tables import COORDINATES, EVENT_TIME

_MARK: Final = "field "
_EXACT: Final = "penstock.type"
_NTZ: Final = re.compile(r"(?<![^<:,])timestamp_ntz(?![^>,])")

PARTITION_KEYS: Final = {"query": "string", "batch": "bigint", "part": "int", "day": "date"}
# A field `day` becomes the column `day_2`: no field has a slash in its name, so a key holds none.
_KEYS: Final = [
    StructField(name, StringType(), True, {"comment": f"{_MARK}/{name}"}) for name in PARTITION_KEYS
]
_OWN_TYPES: Final = {EVENT_TIME: "timestamp", **COORDINATES}
_OWN: Final = [StructField(name, to_type(type_)) for name, type_ in _OWN_TYPES.items()]


def to_glue(column: StructField) -> dict[str, Any]:
    """Return a column as Glue's API has it."""
    exact, name = column.dataType.simpleString(), column.name.lower()
    type_ = _fold(exact)
    field = field_of(column)
    comment = f"{_MARK}{field}" if field != name else (column.metadata or {}).get("comment")
    return {
        "Name": name,
        "Type": type_,
        **({"Comment": comment} if comment else {}),
        **({"Parameters": {_EXACT: exact}} if type_ != exact else {}),
    }


def from_glue(column: Mapping[str, Any]) -> StructField:
    """Return a column of Glue's API with the name that files have it by."""
    name, type_, comment = column["Name"], column["Type"], column.get("Comment", "")
    exact = column.get("Parameters", {}).get(_EXACT, type_)
    # Another writer may have changed the type since.
    parsed = to_type(exact if _fold(exact) == type_.lower() else type_)
    field = comment.removeprefix(_MARK)
    if comment.startswith(_MARK) and field.lower() == name.lower():
        return StructField(field, parsed)
    return StructField(name, parsed, True, {"comment": comment} if comment else {})


def hold_event(columns: StructType, event: StructType) -> StructType:
    """Return columns of files, widened and extended so that they hold an event's fields.

    Penstock's own columns are added too. The names of partition keys stay free.

    Raises:
        SchemaConflictError: no column can hold both the type of a column and that of its field.
    """
    own = [each for each in _OWN if each.name not in columns.names]
    merged = merge_columns(StructType([*columns, *own, *_KEYS]), event)
    return StructType([each for each in merged if each not in _KEYS])


def grow_columns(
    table: str, columns: Sequence[dict[str, Any]], event: StructType
) -> list[dict[str, Any]]:
    """Return the columns of a Glue table, so that they hold an event's fields too.

    Raises:
        SchemaConflictError: files that were written before cannot be read with the wider type.
    """
    before = StructType([from_glue(each) for each in columns])
    merged = hold_event(before, event)
    for column in compare_columns(before, merged).rewritten:
        old, new = before[column.name].dataType, merged[column.name].dataType
        raise SchemaConflictError(
            f"{table}: the column {column.name} is {old.simpleString()} and the records need "
            f"{new.simpleString()}, expected a type that reads the Parquet files written before: "
            "write these records to another folder and table",
            path=column.name,
        )
    known = {from_glue(each).name: each for each in columns}
    return [
        known[each.name] if each.name in known and each == before[each.name] else to_glue(each)
        for each in merged
    ]


def _fold(exact: str) -> str:
    """Return the type that Hive's readers know."""
    return _NTZ.sub("timestamp", exact.lower())
