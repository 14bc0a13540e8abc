"""The columns of a table of the Glue catalog, with the inside of its structs."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from penstock.schemas import FieldName
from penstock.tables import (
    COORDINATES,
    EVENT_TIME,
    name_column,
    read_json_name,
    read_name,
    read_replaced,
)

# The columns that every row has, whatever its schema; without a time a row is in no partition.
OWN: Final = (EVENT_TIME, *COORDINATES)
ColumnPath = tuple[str, ...]
_STRUCT: Final = re.compile(r"struct<(.*)>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Column:
    """A column, or a field inside of a struct; the column's `comment` may name its field.

    `before` are those that it replaced as it was widened: where it is null, they may have a whole
    number that a double rounds.
    """

    path: ColumnPath
    type: str
    comment: str = ""
    before: tuple[ColumnPath, ...] = ()

    @property
    def name(self) -> str:
        """The path with dots."""
        return ".".join(self.path)

    @property
    def is_own(self) -> bool:
        """Return whether Penstock adds this column, so that it is not a field of the event."""
        return self.path[0].startswith("_")


def list_columns(table: Mapping[str, Any]) -> tuple[Column, ...]:
    """Return the columns of a table, each followed by the fields inside of it.

    Iceberg keeps columns that were dropped in the catalog, marked as not current.
    """
    listed = [*table["StorageDescriptor"]["Columns"], *table.get("PartitionKeys", ())]
    columns = [
        each
        for column in listed
        if column.get("Parameters", {}).get("iceberg.field.current", "true") == "true"
        for each in _expand((column["Name"],), column["Type"], column.get("Comment", ""))
    ]
    before: dict[ColumnPath, list[ColumnPath]] = defaultdict(list)
    for each in columns:
        name, *inside = _lower(each.path)
        if now := read_replaced(name, each.comment.lower()):
            before[(now, *inside)].append(each.path)
    return tuple(replace(each, before=tuple(before[_lower(each.path)])) for each in columns)


class Fields:
    """The columns by the fields that they hold; Athena's names have no case."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._columns = {_lower(each.path): each for each in columns}
        top = [each for each in columns if len(each.path) == 1]
        self._json = {read_json_name(each.comment): each for each in top}
        self._named = {read_name(each.comment): each for each in top}

    def find(self, path: Sequence[FieldName]) -> Column | None:
        """Return the column that holds a field; None if no column does, or two may.

        Glue has no comments inside of a struct: a field there is found by its name, as new columns
        have it or those of older versions.
        """
        found = self._find_top(path[0])
        for field in path[1:]:
            above = _lower(found.path) if found else ()
            names = (field.name.lower(), name_column(field.json_name).lower())
            inside = (self._columns.get((*above, name)) for name in names)
            found = next(filter(None, inside), None) if above else None
        return found

    def _find_top(self, field: FieldName) -> Column | None:
        named = self._json.get(field.json_name) or self._named.get(field.name)
        plain = self._columns.get((field.name.lower(),))
        if named is None and plain and read_json_name(plain.comment) is None:
            return plain if read_name(plain.comment) is None else None
        return named


def _expand(path: ColumnPath, kind: str, comment: str) -> Iterator[Column]:
    yield Column(path, kind, comment)
    struct = _STRUCT.fullmatch(kind.strip())
    for name, inner in _split(struct[1]) if struct else ():
        yield from _expand((*path, name), inner, comment)


def _split(text: str) -> Iterator[tuple[str, str]]:
    """Yield the fields of a struct, split at the commas outside of brackets."""
    depth, start = 0, 0
    for at, letter in enumerate(f"{text},"):
        depth += (letter in "<(") - (letter in ">)")
        if letter == "," and depth == 0:
            name, _, kind = text[start:at].partition(":")
            yield name.strip(), kind
            start = at + 1


def _lower(path: ColumnPath) -> ColumnPath:
    return tuple(each.lower() for each in path)
