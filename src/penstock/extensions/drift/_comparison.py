"""The comparison of tables and files with the events of all schema versions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from penstock.errors import SchemaConflictError
from penstock.extensions.drift._clients import read_glue_columns
from penstock.extensions.drift.differences import Difference
from penstock.tables import (
    OWN_COLUMNS,
    Array,
    ColumnType,
    Growth,
    Map,
    NewType,
    Struct,
    compare_columns,
    hold_event,
    lower_names,
    match_fields,
)

_NONE: Final = "no column"
_PARTS: Final = re.compile(r"\[\]|\{\}|[^.\[\]{}]+")
Mismatch = tuple[str, str, str]
_Pair = tuple[str, ColumnType, ColumnType | None]
_OWN_TABLE: Final = "no column holds both types: write these records to a table of their own"
_RENAME: Final = (
    "an earlier release numbered these members: rename the column of an Iceberg table, which keeps "
    "it for the rows that are there, or write these records to a table of their own"
)
_EXTRA: Final = (
    "no event fills it: keep it for old rows, or drop it; if somebody renamed the column of a "
    'field, set its comment to `field "NAME"`'
)
_CASE: Final = "Athena rejects names that differ only in case: rename one of the two"
_REWRITE: Final = (
    "its files must be written again: the job does so with the next batch that needs it"
)
_REWRITE_FILES: Final = "Athena cannot read these files so: write them again in the wider type"
_RETYPE: Final = "write the files again in this type, or move them out of the table"
_UNKNOWN: Final = "add it to a schema version, or move these files out of the table"
_IDS: Final = "another program wrote these files: give the table a name mapping, or rewrite them"


@dataclass(frozen=True, slots=True)
class Footer:
    """The columns of a file; `leaves` are the types of its fields by Iceberg's field id."""

    columns: Struct
    leaves: dict[int, ColumnType]


@dataclass(frozen=True, slots=True)
class TablePlan:
    """The differences of a table's columns, the safe changes, and the columns after them."""

    differences: tuple[Difference, ...]
    growth: Growth
    target: Struct


def plan_table(
    place: str, table: Struct, event: Struct, keys: Collection[str] | None = None
) -> TablePlan:
    """Compare a table's columns with the fields of events.

    A table of files has partition `keys`, whose names are taken; an Iceberg table has none.
    """
    merged, conflicts = _merge(place, table, event, keys or ())
    grown = compare_columns(table, merged)
    growth = Growth(grown.added, grown.widened)
    rewritten = {each.name for each in grown.rewritten}
    kept = [
        table.find(each.name) or each if each.name in rewritten else each for each in merged.columns
    ]
    advice = _REWRITE if keys is None else _REWRITE_FILES
    found = [
        *_describe_growth(place, growth),
        *(
            Difference(place, each.name, str(_type(table, each.name)), str(each.type), advice)
            for each in grown.rewritten
        ),
        *conflicts,
        *(Difference(place, *each, _OWN_TABLE) for each in _own_mismatches(table)),
        *(
            Difference(place, *each, _EXTRA)
            for each in _find_extra(table, event)
            if not any(each[0].startswith(f"{other.column}.") for other in conflicts)
        ),
        *(Difference(place, *each, _CASE) for each in _find_case_conflicts(table)),
    ]
    return TablePlan(tuple(found), growth, Struct(tuple(kept)))


def compare_copy(place: str, found: Struct, target: Struct) -> list[Difference]:
    """Compare Glue's copy of an Iceberg table's columns with the columns."""
    wanted = lower_names(target)
    types: dict[str, list[str]] = {}
    for each in found.columns:
        types.setdefault(each.name, []).append(str(each.type))
    other = [each for each in wanted.columns if str(each.type) not in types.get(each.name, ())]
    return [
        *(Difference(place, it.name, types.get(it.name, [_NONE])[0], str(it.type)) for it in other),
        *(
            Difference(place, each.name, str(each.type), _NONE)
            for each in found.columns
            if wanted.find(each.name) is None
        ),
    ]


def compare_partition(columns: Sequence[Mapping[str, Any]], target: Struct) -> list[Mismatch]:
    """Return the columns of a Glue partition whose type cannot be read as the table's."""
    found, wanted = read_glue_columns(columns), lower_names(target)
    known = Struct(tuple(each for each in found.columns if wanted.find(each.name)))
    return list(_find_mismatches(known, wanted))


def compare_footers(
    footers: Iterable[tuple[str, Footer]],
    target: Struct,
    fields: Mapping[int, tuple[str, ColumnType]] | None = None,
    *,
    named: bool = True,
    skipped: Iterable[str] = (),
) -> list[Difference]:
    """Compare files with a table; there is one difference per folder.

    Args:
        footers: the files with their footers.
        target: the columns of the table.
        fields: Iceberg's fields by id; files that have ids are compared by them.
        named: whether files without ids are read by the names of their columns.
        skipped: the table's partition keys, which are no columns of files.
    """
    counts: Counter[Difference] = Counter()
    wanted = lower_names(target)
    keys = set(skipped)
    for path, footer in footers:
        place = f"parquet {path.rpartition('/')[0]}/"
        if fields is not None and footer.leaves:
            counts.update(_compare_by_id(place, footer, fields))
        elif named:
            counts.update(_compare_by_name(place, footer.columns, wanted, keys))
        else:
            counts[Difference(place, "*", "no field ids", "Iceberg's field ids", _IDS)] += 1
    return [replace(each, count=count) for each, count in counts.items()]


def _merge(
    place: str, table: Struct, event: Struct, keys: Collection[str]
) -> tuple[Struct, list[Difference]]:
    """Merge the fields that the table can hold; return the others as conflicts."""
    try:
        return hold_event(table, event, keys), []
    except SchemaConflictError:
        conflicts = []
        for field in event.columns:
            try:
                table = hold_event(table, Struct((field,)), keys)
            except SchemaConflictError as error:
                path, found, wanted = _find_conflict(table, event, error.path)
                is_numbered = isinstance(found, Struct) and found.is_numbered
                advice = _RENAME if is_numbered else _OWN_TABLE
                conflicts.append(Difference(place, path, str(found), str(wanted), advice))
        return table, conflicts


def _find_conflict(table: Struct, event: Struct, path: str) -> tuple[str, ColumnType, ColumnType]:
    """Return the column's path and both types of a conflict, whose path, `a.b[]`, is in Avro."""
    place, found, wanted = "", cast("ColumnType", table), cast("ColumnType", event)
    for part in _PARTS.findall(path):
        match found, wanted:
            case Array(), Array():
                place, found, wanted = f"{place}[]", found.item, wanted.item
            case Map(), Map():
                place, found, wanted = f"{place}{{}}", found.value, wanted.value
            case Struct(), Struct():
                own = [each for each in found.columns if place or not each.is_own]
                column = match_fields(own, wanted.columns)[part]
                place = f"{place}.{column.name}".removeprefix(".")
                found, wanted = column.type, _type(wanted, part)
    return place, found, wanted


def _describe_growth(place: str, growth: Growth) -> Iterator[Difference]:
    for new in growth.added:
        path = f"{new.parent}.{new.column.name}" if new.parent else new.column.name
        yield Difference(place, path, _NONE, str(new.column.type))
    for wider in growth.widened:
        yield Difference(place, wider.path, str(wider.old), str(wider.new))


def _own_mismatches(table: Struct) -> Iterator[Mismatch]:
    for own in OWN_COLUMNS.columns:
        column = table.find(own.name)
        if column and column.type != own.type:
            yield own.name, str(column.type), str(own.type)


def _find_extra(table: Struct, event: Struct) -> Iterator[Mismatch]:
    """Yield columns that hold no field of the events."""
    held = Struct(tuple(each for each in table.columns if not each.is_own))
    for path, found, field in _pair_columns(held, event, by_field=True):
        if field is None:
            yield path, str(found), _NONE


def _find_case_conflicts(table: Struct, path: str = "") -> Iterator[Mismatch]:
    seen: dict[str, str] = {}
    for column in table.columns:
        other = seen.setdefault(column.name.lower(), column.name)
        if other != column.name:
            yield f"{path}{column.name}", f"{other} and {column.name}", "one name"
        inside = column.type
        while isinstance(inside, Array | Map):
            inside = inside.item if isinstance(inside, Array) else inside.value
        if isinstance(inside, Struct):
            yield from _find_case_conflicts(inside, f"{path}{column.name}.")


def _find_mismatches(found: Struct, wanted: Struct) -> Iterator[Mismatch]:
    """Yield columns that are unknown, and leaves that cannot be read as the wanted type."""
    for path, type_, expected in _pair_columns(found, wanted):
        if expected is None:
            yield path, str(type_), _NONE
        elif not _is_readable(type_, expected):
            yield path, str(type_), str(expected)


def _pair_columns(
    found: Struct, other: Struct, path: str = "", *, by_field: bool = False
) -> Iterator[_Pair]:
    """Yield the path and both types of each column without columns inside; None if none is like it.

    Columns are alike by their names; `by_field`, the other one is a field of events.
    """
    held = match_fields(found.columns, other.columns) if by_field else {}
    fields = {column.name: name for name, column in held.items()}
    for column in found.columns:
        name = fields.get(column.name) if by_field else column.name
        twin = other.find(name) if name else None
        if twin is None:
            yield f"{path}{column.name}", column.type, None
        else:
            yield from _pair_types(column.type, twin.type, f"{path}{column.name}", by_field)


def _pair_types(found: ColumnType, other: ColumnType, path: str, by_field: bool) -> Iterator[_Pair]:
    if isinstance(found, Struct) and isinstance(other, Struct):
        yield from _pair_columns(found, other, f"{path}.", by_field=by_field)
    elif isinstance(found, Array) and isinstance(other, Array):
        yield from _pair_types(found.item, other.item, f"{path}.element", by_field)
    elif isinstance(found, Map) and isinstance(other, Map):
        yield from _pair_types(found.value, other.value, f"{path}.value", by_field)
    else:
        yield path, found, other


def _is_readable(found: ColumnType, wanted: ColumnType) -> bool:
    return found == wanted or NewType("", found, wanted).in_place


def _compare_by_id(
    place: str, footer: Footer, fields: Mapping[int, tuple[str, ColumnType]]
) -> Iterator[Difference]:
    for number, type_ in footer.leaves.items():
        if number in fields:  # else the column was dropped
            path, wanted = fields[number]
            if not _is_readable(type_, wanted):
                yield Difference(place, path, str(type_), str(wanted), _RETYPE)


def _compare_by_name(
    place: str, columns: Struct, wanted: Struct, keys: set[str]
) -> Iterator[Difference]:
    for each in _find_case_conflicts(columns):
        yield Difference(place, *each, _CASE)
    for path, found, expected in _find_mismatches(lower_names(columns), wanted):
        if path not in keys:
            advice = _UNKNOWN if expected == _NONE else _RETYPE
            yield Difference(place, path, found, expected, advice)


def _type(table: Struct, name: str) -> ColumnType:
    column = table.find(name)
    return "" if column is None else column.type
