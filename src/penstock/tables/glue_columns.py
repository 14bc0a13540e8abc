"""Columns of a Glue table of Parquet files, whose files stay as they were written.

Hive's readers know names in lower case only. So a column `roomName` is `roomname` in Glue, with the
comment `field roomName`; the files keep `roomName`, which these readers match whatever its case.
Types are in lower case too; the column's parameter `penstock.type` has the exact one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from penstock.tables.columns import (
    COORDINATES,
    EVENT_TIME,
    Array,
    Column,
    ColumnType,
    Map,
    Struct,
    merge_columns,
)
from penstock.tables.hive_types import parse_type

OWN_COLUMNS: Final = Struct(
    tuple(Column(name, type_) for name, type_ in {EVENT_TIME: "timestamp", **COORDINATES}.items())
)
_MARK: Final = "field "
_EXACT: Final = "penstock.type"
_NTZ: Final = re.compile(r"(?<![^<:,])timestamp_ntz(?![^>,])")


def write_glue_column(column: Column) -> dict[str, Any]:
    """Return a column as Glue's API has it."""
    exact, name = str(column.type), column.name.lower()
    type_ = _fold(exact)
    comment = f"{_MARK}{column.field}" if column.field != name else column.comment
    return {
        "Name": name,
        "Type": type_,
        **({"Comment": comment} if comment else {}),
        **({"Parameters": {_EXACT: exact}} if type_ != exact else {}),
    }


def read_glue_column(column: Mapping[str, Any]) -> Column:
    """Return a column of Glue's API with the name that files have it by."""
    name, type_, comment = column["Name"], column["Type"], column.get("Comment", "")
    exact = column.get("Parameters", {}).get(_EXACT, type_)
    # Another writer may have changed the type since.
    parsed = parse_type(exact if _fold(exact) == type_.lower() else type_)
    field = comment.removeprefix(_MARK)
    if comment.startswith(_MARK) and field.lower() == name.lower():
        return Column(field, parsed)
    return Column(name, parsed, comment)


def write_glue_columns(given: Sequence[Mapping[str, Any]], columns: Struct) -> list[dict[str, Any]]:
    """Return columns as Glue's API has them; what is `given` stays if it says the same."""
    known = {each["Name"].lower(): each for each in given}
    written = map(write_glue_column, columns.columns)
    return [dict(_keep(known.get(each["Name"]), each)) for each in written]


def _keep(given: Mapping[str, Any] | None, written: Mapping[str, Any]) -> Mapping[str, Any]:
    is_same = given and write_glue_column(read_glue_column(given)) == written
    return given if given and is_same else written


def hold_event(columns: Struct, event: Struct, keys: Iterable[str]) -> Struct:
    """Return columns of files, widened and extended so that they hold an event's fields.

    Penstock's own columns are added too. The names of partition `keys` stay free.

    Raises:
        SchemaConflictError: no column can hold both the type of a column and that of its field.
    """
    own = [each for each in OWN_COLUMNS.columns if columns.find(each.name) is None]
    # A field `day` becomes the column `day_2`: no field has a slash, so a key holds none.
    taken = [Column(key, "string", f"{_MARK}/{key}") for key in keys]
    merged = merge_columns(Struct((*columns.columns, *own, *taken)), event)
    return Struct(tuple(each for each in merged.columns if each not in taken))


def name_fields(found: Struct, named: Struct) -> Struct:
    """Return columns with the fields that they hold by `named`, the columns of a new table.

    Glue keeps no comments inside a struct, and a crawler none at all.
    """
    owners = {each.field: each for each in named.columns}
    held = {each.field for each in found.columns}
    free = {each.name.lower(): each for each in named.columns if each.field not in held}
    return Struct(tuple(_name(each, owners.get(each.field), free) for each in found.columns))


def _name(found: Column, owner: Column | None, free: Mapping[str, Column]) -> Column:
    if owner is not None:
        return replace(found, type=_name_inside(found.type, owner.type))
    owner = free.get(found.name.lower())
    if owner is None or found.comment.startswith(_MARK):
        return found
    type_ = _name_inside(found.type, owner.type)
    return Column(owner.name, type_, owner.comment or found.comment)


def _name_inside(found: ColumnType, named: ColumnType) -> ColumnType:
    if isinstance(found, Struct) and isinstance(named, Struct):
        return name_fields(found, named)
    if isinstance(found, Array) and isinstance(named, Array):
        return Array(_name_inside(found.item, named.item))
    if isinstance(found, Map) and isinstance(named, Map):
        return Map(found.key, _name_inside(found.value, named.value))
    return found


def _fold(exact: str) -> str:
    """Return the type that Hive's readers know."""
    return _NTZ.sub("timestamp", exact.lower())
