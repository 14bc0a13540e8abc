"""Columns of a Glue table of Parquet files, whose files stay as they were written.

Hive's readers know names in lower case only. So a column `roomName` is `roomname` in Glue, with the
comment `field roomName`; the files keep `roomName`, which these readers match whatever its case.
Types are in lower case too; the column's parameter `penstock.type` has the exact one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pyspark.sql.types import (
    ArrayType,
    DataType,
    MapType,
    StringType,
    StructField,
    StructType,
)

from penstock.errors import SchemaConflictError
from penstock.spark.lake.columns import compare_columns, field_of, is_own, merge_columns, to_type
from penstock.tables import COORDINATES, EVENT_TIME, PARTITION_KEYS

_MARK: Final = "field "
_EXACT: Final = "penstock.type"
_NTZ: Final = re.compile(r"(?<![^<:,])timestamp_ntz(?![^>,])")

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
    found = {each.name: each for each in map(from_glue, columns)}
    before = _name_by_fields(StructType(list(found.values())), event)
    merged = hold_event(before, event)
    for column in compare_columns(before, merged).rewritten:
        old, new = before[column.name].dataType, merged[column.name].dataType
        raise SchemaConflictError(
            f"{table}: the column {column.name} is {old.simpleString()} and the records need "
            f"{new.simpleString()}, expected a type that reads the Parquet files written before: "
            "write these records to another folder and table",
            path=column.name,
        )
    known = dict(zip(found, columns, strict=True))
    return [known[each.name] if each == found.get(each.name) else to_glue(each) for each in merged]


def _name_by_fields(columns: StructType, event: StructType) -> StructType:
    """Return columns with the names of the fields that they hold.

    A sync, and everybody who follows Hive, adds them in lower case and without a comment.
    """
    exact = {each.name: each for each in event}
    lower = {each.name.lower(): each for each in event}
    held = {field_of(each) for each in columns}
    named = []
    for column in columns:
        name, field = column.name, exact.get(field_of(column))
        near = lower.get(name)
        if field is None and near and near.name not in held and not is_own(column):
            name, field = near.name, near
        type_ = _name_inside(column.dataType, field.dataType) if field else column.dataType
        named.append(StructField(name, type_, True, column.metadata))
    return StructType(named)


def _name_inside(type_: DataType, event: DataType) -> DataType:
    if isinstance(type_, StructType) and isinstance(event, StructType):
        return _name_by_fields(type_, event)
    if isinstance(type_, ArrayType) and isinstance(event, ArrayType):
        return ArrayType(_name_inside(type_.elementType, event.elementType))
    if isinstance(type_, MapType) and isinstance(event, MapType):
        return MapType(type_.keyType, _name_inside(type_.valueType, event.valueType))
    return type_


def _fold(exact: str) -> str:
    """Return the type that Hive's readers know."""
    return _NTZ.sub("timestamp", exact.lower())
