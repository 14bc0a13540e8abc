"""The columns of a table of the Glue catalog, with the inside of its structs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from penstock.schemas import Path
from penstock.tables import COORDINATES, EVENT_TIME

# The columns that every row has, whatever its schema; without a time a row is in no partition.
OWN: Final = (EVENT_TIME, *COORDINATES)
_MARK: Final = "field "  # how the comment of a column names its field
_STRUCT: Final = re.compile(r"struct<(.*)>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Column:
    """A column, or a field inside of a struct; `field` is the event's field that it holds."""

    path: Path
    type: str
    field: str = ""

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
    return tuple(
        each
        for column in listed
        if column.get("Parameters", {}).get("iceberg.field.current", "true") == "true"
        for each in _expand((column["Name"],), column["Type"], _field(column))
    )


class Fields:
    """The columns by the fields that they hold; Athena's names have no case."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._named = {(each.field, *_lower(each.path[1:])): each for each in columns if each.field}
        self._plain = {_lower(each.path): each for each in columns if not each.field}

    def find(self, path: Path) -> Column | None:
        """Return the column that holds a field; None if no column does, or two may."""
        rest = _lower(path[1:])
        named = self._named.get((path[0], *rest))
        if named is None and (path[0].lower(),) in self._plain:
            named = self._plain.get((path[0].lower(), *rest))
        return named


def _field(column: Mapping[str, Any]) -> str:
    comment = column.get("Comment", "")
    return comment.removeprefix(_MARK) if comment.startswith(_MARK) else ""


def _expand(path: Path, kind: str, field: str) -> Iterator[Column]:
    yield Column(path, kind, field)
    struct = _STRUCT.fullmatch(kind.strip())
    for name, inner in _split(struct[1]) if struct else ():
        yield from _expand((*path, name), inner, field)


def _split(text: str) -> Iterator[tuple[str, str]]:
    """Yield the fields of a struct, split at the commas outside of brackets."""
    depth, start = 0, 0
    for at, letter in enumerate(f"{text},"):
        depth += (letter in "<(") - (letter in ">)")
        if letter == "," and depth == 0:
            name, _, kind = text[start:at].partition(":")
            yield name.strip(), kind
            start = at + 1


def _lower(path: Path) -> Path:
    return tuple(each.lower() for each in path)
