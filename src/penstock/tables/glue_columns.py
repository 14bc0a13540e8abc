"""Columns of a Glue table of Parquet files, whose files stay as they were written.

Hive's readers know names in lower case only. So a column `roomName` is `roomname` in Glue, with the
comment `field roomName`; the files keep `roomName`, which these readers match whatever its case.
Types are in lower case too; the column's parameter `penstock.type` has the exact one, and
`penstock.comments` the comments of fields inside, by path.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    match_fields,
    merge_columns,
)
from penstock.tables.hive_types import parse_type
from penstock.tables.names import MARK, name_column, read_json_name, read_name

OWN_COLUMNS: Final = Struct(
    tuple(Column(name, type_) for name, type_ in {EVENT_TIME: "timestamp", **COORDINATES}.items())
)
# The fields of a table that GetTable returns and UpdateTable accepts.
TABLE_INPUT: Final = frozenset(
    {
        *("Description", "LastAccessTime", "LastAnalyzedTime", "Name", "Owner", "Parameters"),
        *("PartitionKeys", "Retention", "StorageDescriptor", "TableType", "TargetTable"),
        *("ViewExpandedText", "ViewOriginalText"),
    }
)
_EXACT: Final = "penstock.type"
_COMMENTS: Final = "penstock.comments"
_NTZ: Final = re.compile(r"(?<![^<:,])timestamp_ntz(?![^>,])")


def write_glue_column(column: Column) -> dict[str, Any]:
    """Return a column as Glue's API has it."""
    exact, name = str(column.type), column.name.lower()
    type_ = _fold(exact)
    comment = column.comment
    if not column.holds[0] and column.field != name:
        comment = f"{MARK}{column.field}"
    inside = dict(_list_comments(column.type, ""))
    parameters = {
        **({_EXACT: exact} if type_ != exact else {}),
        **({_COMMENTS: json.dumps(inside, ensure_ascii=False)} if inside else {}),
    }
    return {
        "Name": name,
        "Type": type_,
        **({"Comment": comment} if comment else {}),
        **({"Parameters": parameters} if parameters else {}),
    }


def read_glue_column(column: Mapping[str, Any]) -> Column:
    """Return a column of Glue's API with the name that files have it by."""
    name, type_, comment = column["Name"], column["Type"], column.get("Comment", "")
    parameters = column.get("Parameters", {})
    exact = parameters.get(_EXACT, type_)
    # Another writer may have changed the type since.
    parsed = parse_type(exact if _fold(exact) == type_.lower() else type_)
    if inside := _read_comments(parameters.get(_COMMENTS, "")):
        parsed = _comment_inside(parsed, inside, "")
    if (json_name := read_json_name(comment)) is not None:
        return Column(_restore_case(name, name_column(json_name)), parsed, comment)
    field = read_name(comment)
    if field is not None and field.lower() == name.lower():
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
    taken = [Column(key, "string", f"{MARK}/{key}") for key in keys]
    merged = merge_columns(Struct((*columns.columns, *own, *taken)), event)
    return Struct(tuple(each for each in merged.columns if each not in taken))


def name_fields(found: Struct, named: Struct, event: Struct, *, is_nested: bool = False) -> Struct:
    """Return columns with the fields that they hold, as a crawler keeps no comments.

    A column without a comment holds the field of an event that has its name in Avro, as in older
    versions, or the field of the column with its name in `named`, a new table.
    """
    own = [each for each in found.columns if is_nested or not each.is_own]
    owners = match_fields(own, event.columns)
    held = {owner.name: name for name, owner in owners.items()}
    new = match_fields(named.columns, event.columns)
    left = [each for each in event.columns if each.name not in owners]
    free = {
        name.lower(): each
        for each in left
        for name in (each.name, new[each.name].name if each.name in new else each.name)
    }
    return Struct(
        tuple(_name(each, held.get(each.name), free, new, event) for each in found.columns)
    )


def _name(
    found: Column,
    held: str | None,
    free: Mapping[str, Column],
    new: Mapping[str, Column],
    event: Struct,
) -> Column:
    field = event.find(held) if held else None
    if field is not None:
        owner = new.get(field.name, field)
        return replace(found, type=_name_inside(found.type, owner.type, field.type))
    field = free.get(found.name.lower())
    if field is None or found.comment.startswith(MARK):
        return found
    owner = new.get(field.name, field)
    type_ = _name_inside(found.type, owner.type, field.type)
    if found.name.lower() != owner.name.lower():  # an older version named it
        return Column(field.name, type_, found.comment)
    return Column(owner.name, type_, owner.comment or found.comment)


def _name_inside(found: ColumnType, named: ColumnType, event: ColumnType) -> ColumnType:
    match found, named, event:
        case Struct(), Struct(), Struct():
            return name_fields(found, named, event, is_nested=True)
        case Array(), Array(), Array():
            return Array(_name_inside(found.item, named.item, event.item))
        case Map(), Map(), Map():
            return Map(found.key, _name_inside(found.value, named.value, event.value))
    return found


def _restore_case(lowered: str, name: str) -> str:
    """Return the name that files have, which is `name`, perhaps with more around it."""
    before, own, after = lowered.partition(name.lower())
    return f"{before}{name}{after}" if own else lowered


def _list_comments(type_: ColumnType, path: str) -> Iterator[tuple[str, str]]:
    """Yield the comments of fields inside of a type, which Glue's text of it does not have."""
    match type_:
        case Struct():
            for each in type_.columns:
                inside = f"{path}.{each.name}".removeprefix(".")
                if each.comment:
                    yield inside, each.comment
                yield from _list_comments(each.type, inside)
        case Array():
            yield from _list_comments(type_.item, f"{path}[]")
        case Map():
            yield from _list_comments(type_.value, f"{path}{{}}")


def _read_comments(text: str) -> dict[str, str]:
    try:
        found = json.loads(text)
    except ValueError:  # somebody else wrote it
        return {}
    return found if isinstance(found, dict) else {}


def _comment_inside(type_: ColumnType, comments: Mapping[str, str], path: str) -> ColumnType:
    match type_:
        case Struct():
            return Struct(tuple(_comment_field(each, comments, path) for each in type_.columns))
        case Array():
            return Array(_comment_inside(type_.item, comments, f"{path}[]"))
        case Map():
            return Map(type_.key, _comment_inside(type_.value, comments, f"{path}{{}}"))
    return type_


def _comment_field(field: Column, comments: Mapping[str, str], path: str) -> Column:
    inside = f"{path}.{field.name}".removeprefix(".")
    type_ = _comment_inside(field.type, comments, inside)
    return Column(field.name, type_, comments.get(inside, field.comment))


def _fold(exact: str) -> str:
    """Return the type that Hive's readers know."""
    return _NTZ.sub("timestamp", exact.lower())
