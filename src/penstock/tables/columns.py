"""The columns of a table that holds every event, whatever its schema version.

A field of the event is a column with its name in JSON, as far as Athena takes it
(`penstock.tables.names`). Athena and DuckDB reject two names that differ only in case, and names
that begin with `_` are reserved for Penstock. The comment of a column with another name than its
field names the field: `field "Order-ID"`. A column that exists keeps its name, and is found by its
comment. Fields that can hold only null have no column.

The fields of an event are columns too, by their names in Avro, with such a comment if JSON has
another name.

The type of a column is a leaf, by its name in SQL (`bigint`, `decimal(9,2)`), or nested.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import Final, NamedTuple, TypeAlias

from penstock.errors import SchemaConflictError
from penstock.tables.names import COMMENT_BYTES, MARK, name_column, read_json_name, read_name

EVENT_TIME: Final = "_event_time"
# Columns that every table of readings has, with their types.
COORDINATES: Final = {
    "_topic": "string",
    "_kafka_partition": "int",
    "_offset": "bigint",
    "_kafka_timestamp": "timestamp",
    "_schema_id": "string",
    "_schema_version": "int",
}
# The type of a value that is always null.
VOID: Final = "void"
# How the columns of a union of several types begin; see penstock/tables/events.py.
MEMBER: Final = "member_"

_CUT: Final = "..."
_WHOLE: Final = ("int", "bigint")
_BROKEN: Final = ("float", "double")
_NUMBERED: Final = re.compile(r"member\d+", re.IGNORECASE)
_DECIMAL: Final = re.compile(r"decimal\((\d+),(\d+)\)")
# Besides decimals, Iceberg widens these in the metadata alone; other changes rewrite the column.
_PROMOTIONS: Final = {_WHOLE, _BROKEN}


@dataclass(frozen=True, slots=True)
class Column:
    """A column, or a field of a struct; its `comment` may name the event's field.

    `field` is the name of that field: in JSON if the comment says so, else in Avro.
    """

    name: str
    type: ColumnType
    comment: str = ""
    required: bool = False

    @property
    def field(self) -> str:
        """Return the name of the event's field that the column holds."""
        return read_json_name(self.comment) or read_name(self.comment) or self.name

    @property
    def holds(self) -> tuple[bool, str]:
        """Return the name of the field that the column holds, and whether it is in JSON."""
        json_name = read_json_name(self.comment)
        return (False, self.field) if json_name is None else (True, json_name)

    @property
    def is_own(self) -> bool:
        """Return whether the column is Penstock's own and not a field of the event."""
        return self.name.startswith("_")


@dataclass(frozen=True, slots=True)
class Struct:
    """The columns of a table, or the fields of a nested record."""

    columns: tuple[Column, ...] = ()

    @property
    def is_union(self) -> bool:
        """Return whether each column is that of a branch of a union."""
        names = [each.name.lower() for each in self.columns]
        return bool(names) and all(each.startswith(MEMBER) for each in names)

    @property
    def is_numbered(self) -> bool:
        """Return whether a column is that of a branch of a release that numbered them."""
        return any(_NUMBERED.fullmatch(each.name) for each in self.columns)

    def find(self, name: str) -> Column | None:
        """Return the column with this name."""
        return next((each for each in self.columns if each.name == name), None)

    def __str__(self) -> str:
        """Return the type in SQL."""
        return f"struct<{','.join(f'{each.name}:{each.type}' for each in self.columns)}>"


@dataclass(frozen=True, slots=True)
class Array:
    """A list of items of one type."""

    item: ColumnType

    def __str__(self) -> str:
        """Return the type in SQL."""
        return f"array<{self.item}>"


@dataclass(frozen=True, slots=True)
class Map:
    """Values of one type by key."""

    key: ColumnType
    value: ColumnType

    def __str__(self) -> str:
        """Return the type in SQL."""
        return f"map<{self.key},{self.value}>"


ColumnType: TypeAlias = str | Struct | Array | Map


@dataclass(frozen=True, slots=True)
class NewColumn:
    """A column to add; `parent` is the path of its struct, None for the table itself."""

    parent: str | None
    column: Column


@dataclass(frozen=True, slots=True)
class NewType:
    """A column to widen; `in_place` is true if Iceberg does so without touching data."""

    path: str
    old: ColumnType
    new: ColumnType

    @property
    def in_place(self) -> bool:
        """Return whether a change of the metadata is enough."""
        if isinstance(self.old, str) and isinstance(self.new, str):
            old, new = _DECIMAL.fullmatch(self.old), _DECIMAL.fullmatch(self.new)
            if old and new:
                return old[2] == new[2]
            return (self.old, self.new) in _PROMOTIONS
        return False


@dataclass(frozen=True, slots=True)
class Growth:
    """The changes of a table to hold more; `rewritten` columns cannot be widened in place."""

    added: tuple[NewColumn, ...] = ()
    widened: tuple[NewType, ...] = ()
    rewritten: tuple[Column, ...] = ()


def match_fields(columns: Iterable[Column], fields: Iterable[Column]) -> dict[str, Column]:
    """Return the column that holds each field, by the field's name in Avro."""
    owners = {column.holds: column for column in columns}
    found = {
        each.name: owners.get((True, each.field)) or owners.get((False, each.name))
        for each in fields
    }
    return {name: owner for name, owner in found.items() if owner}


class Path(NamedTuple):
    """The path of a field, in Avro and, for messages, in JSON."""

    name: str = ""
    shown: str = ""

    def inside(self, field: Column) -> Path:
        """Return the path of a field inside."""
        return Path(
            f"{self.name}.{field.name}".removeprefix("."),
            f"{self.shown}.{field.field}".removeprefix("."),
        )

    def items(self, mark: str) -> Path:
        """Return the path of the items."""
        return Path(f"{self.name}{mark}", f"{self.shown}{mark}")


_TOP: Final = Path()


def merge_columns(table: Struct, event: Struct, path: Path = _TOP) -> Struct:
    """Return the table's columns, widened and extended so that they hold the event's fields.

    Raises:
        SchemaConflictError: no column can hold both the type of a column and that of its field;
            its path has the names of Avro.
    """
    columns = {column.name: column for column in table.columns}
    is_nested = path != _TOP
    owners = match_fields(
        (column for column in table.columns if is_nested or not column.is_own), event.columns
    )
    for field in event.columns:
        inside = path.inside(field)
        owner = owners.get(field.name)
        type_ = _merge(owner.type if owner else VOID, field.type, inside)
        if owner:
            columns[owner.name] = replace(owner, type=type_, required=False)
        elif type_ != VOID:
            name = _free_name(name_column(field.field), columns, nested=is_nested)
            columns[name] = Column(name, type_, _name_field(field, name))
    return Struct(tuple(columns.values()))


def cut_comment(comment: str) -> str:
    """Return a comment that Glue takes, which has 255 bytes at most; the end of a longer one goes.

    The names of fields are short enough that none is cut.
    """
    content = comment.encode()
    if len(content) <= COMMENT_BYTES:
        return comment
    return f"{content[: COMMENT_BYTES - len(_CUT)].decode(errors='ignore')}{_CUT}"


def compare_columns(table: Struct, merged: Struct) -> Growth:
    """Return the changes that a table needs to have the merged columns."""
    growth = Growth()
    for column in merged.columns:
        own = table.find(column.name)
        if own is None:
            growth = replace(growth, added=(*growth.added, NewColumn(None, column)))
            continue
        changes = list(_changes(own.type, column.type, column.name))
        types = tuple(each for each in changes if isinstance(each, NewType))
        if all(each.in_place for each in types):
            new = tuple(each for each in changes if isinstance(each, NewColumn))
            growth = replace(growth, added=growth.added + new, widened=growth.widened + types)
        else:
            growth = replace(growth, rewritten=(*growth.rewritten, column))
    return growth


def _name_field(field: Column, name: str) -> str:
    """Return the comment of a new column."""
    if field.holds[0]:
        return field.comment
    return "" if name == field.name else f"{MARK}{field.name}"


def _merge(old: ColumnType, new: ColumnType, path: Path) -> ColumnType:
    """Return the type that holds both; `VOID` if there is nothing to hold."""
    if isinstance(new, Struct) and (isinstance(old, Struct) or old == VOID):
        if isinstance(old, Struct):
            _check_union(old, new, path)
        merged = merge_columns(old if isinstance(old, Struct) else Struct(), new, path)
        return merged if merged.columns else VOID
    if isinstance(new, Array) and (isinstance(old, Array) or old == VOID):
        item = _merge(old.item if isinstance(old, Array) else VOID, new.item, path.items("[]"))
        return VOID if item == VOID else Array(item)
    if isinstance(new, Map) and (isinstance(old, Map) or old == VOID):
        value = _merge(old.value if isinstance(old, Map) else VOID, new.value, path.items("{}"))
        return VOID if value == VOID else Map(new.key, value)
    if VOID in {old, new}:
        return new if old == VOID else old
    return _merge_leaves(old, new, path)


def _check_union(old: Struct, new: Struct, path: Path) -> None:
    """Raise SchemaConflictError if only one is a union, or if the members of one are numbered."""
    if new.is_union and old.is_numbered:
        raise SchemaConflictError(
            f"{path.shown}: the column is {old}, whose members an earlier release numbered, and "
            f"the records have {new}, expected members with the names of their types: rename the "
            "column of an Iceberg table, which keeps it for the rows that are there, or write "
            "these records to a table of their own",
            path=path.name,
        )
    if old.is_union != new.is_union and not any(old.find(each.name) for each in new.columns):
        raise _conflict(old, new, path)


def _merge_leaves(old: ColumnType, new: ColumnType, path: Path) -> ColumnType:
    if old == new:
        return old
    if isinstance(old, str) and isinstance(new, str):
        for order in (_WHOLE, _BROKEN):
            if old in order and new in order:
                return max(old, new, key=order.index)
        if {old, new} <= {*_WHOLE, *_BROKEN}:
            return "double"
        one, other = _DECIMAL.fullmatch(old), _DECIMAL.fullmatch(new)
        if one and other and one[2] == other[2]:
            return old if int(one[1]) > int(other[1]) else new
    raise _conflict(old, new, path)


def _conflict(old: ColumnType, new: ColumnType, path: Path) -> SchemaConflictError:
    return SchemaConflictError(
        f"{path.shown}: the column is {old} and the records have {new}, "
        "expected types that one column can hold: write these records to a table of their own",
        path=path.name,
    )


def _free_name(field: str, taken: Iterable[str], *, nested: bool) -> str:
    wanted = f"event{field}" if field.startswith("_") and not nested else field
    lowered = {name.lower() for name in taken}
    names = (wanted if number == 1 else f"{wanted}_{number}" for number in count(1))
    return next(name for name in names if name.lower() not in lowered)


def _changes(old: ColumnType, new: ColumnType, path: str) -> Iterator[NewColumn | NewType]:
    if isinstance(old, Struct) and isinstance(new, Struct):
        for column in new.columns:
            own = old.find(column.name)
            if own:
                yield from _changes(own.type, column.type, f"{path}.{column.name}")
            else:
                yield NewColumn(path, column)
    elif isinstance(old, Array) and isinstance(new, Array):
        yield from _changes(old.item, new.item, f"{path}.element")
    elif isinstance(old, Map) and isinstance(new, Map):
        yield from _changes(old.value, new.value, f"{path}.value")
    elif old != new:
        yield NewType(path, old, new)
