"""The fields of schema versions that the columns of a table hold."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from penstock.extensions.lineage.model import RowCount, Source, TableColumn
from penstock.extensions.lineage.versions import KnownVersion
from penstock.operations import ReaderTable
from penstock.tables import Column, match_fields

Filled = Sequence[tuple[KnownVersion, ReaderTable]]


def explain_columns(
    columns: Sequence[Column],
    filled: Filled,
    rows: Sequence[RowCount] | None,
    *,
    is_complete: bool = True,
) -> tuple[TableColumn, ...]:
    """Return columns with the fields that they hold, by the rules by which jobs fill them.

    Args:
        columns: the columns of a table.
        filled: the versions whose records it may have, each with what the table holds of them.
        rows: the rows that it has of versions, None if they are not known.
        is_complete: whether all versions are known that it may have.
    """
    counts = None if rows is None else _sum_rows(rows)
    own = {each.name for each in columns if each.is_own}
    own |= {name for _, table in filled for name in _list_own(table)}
    fillable = [each for each in columns if each.name not in own]
    sources: dict[str, dict[Source, None]] = defaultdict(dict)
    made: dict[str, dict[Source, None]] = defaultdict(dict)  # of keys
    for version, table in filled:
        count = None if counts is None else counts.get((version.schema, version.number), 0)
        for name, field, is_key in _find_columns(fillable, version, table):
            source = Source(version.schema, version.number, field.field, str(field.type), count)
            (made if is_key else sources)[name][source] = None
    found = {each.name: tuple(sources[each.name] or made[each.name]) for each in columns}
    return tuple(
        TableColumn(
            each.name,
            str(each.type),
            found[each.name],
            each.name in own,
            not is_complete and not found[each.name] and each.name not in own,
        )
        for each in columns
    )


def _find_columns(
    columns: Sequence[Column], version: KnownVersion, table: ReaderTable
) -> Iterator[tuple[str, Column, bool]]:
    """Yield the columns that hold a field of a version, and whether they are keys made of it."""
    held = dict(table.list_fields(version.fields))
    owners = match_fields(columns, held.values())
    keys = dict(_list_keys(table))
    for field, column in held.items():
        for name, fields in (table.made_of or {}).items():
            if field.field in fields:
                yield name, field, False
        if table.made_of is not None:
            continue
        if table.inside:
            yield table.inside, field, False
            continue
        if owner := owners.get(column.name):
            yield owner.name, field, False
        for name in (name for name, fields in keys.items() if column.field in fields):
            yield name, field, True


def _list_own(table: ReaderTable) -> Iterator[str]:
    """Yield the columns that hold no field: those of Penstock, and those that a job computes."""
    yield from table.own
    for columns in (dict(_list_keys(table)), table.made_of or {}):
        yield from (name for name, fields in columns.items() if not fields)


def _sum_rows(rows: Sequence[RowCount]) -> Mapping[tuple[str, int], int]:
    counts: dict[tuple[str, int], int] = {}
    for each in rows:
        counts[each.schema, each.number] = counts.get((each.schema, each.number), 0) + each.rows
    return counts


def _list_keys(table: ReaderTable) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the key attributes of a table of DynamoDB, and the fields that they are made of."""
    shape = table.shape
    if table.kind == "dynamodb" and shape is not None:
        yield shape.key_attribute, shape.key
        if shape.sort_name:
            yield shape.sort_name, shape.sort or ((shape.event_time,) if shape.event_time else ())
