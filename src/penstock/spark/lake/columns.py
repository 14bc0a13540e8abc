"""The columns of a table that holds every event, whatever its schema version.

A field of the event is a column of the same name. Athena and DuckDB reject two names that differ
only in case, and names that begin with `_` are reserved for Penstock. Such a field gets another
name, and the comment of its column names the field: `field Temp`. Fields that can hold only null
have no column.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import Final

from pyspark.sql.types import (
    ArrayType,
    DataType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    NullType,
    StructField,
    StructType,
)

from penstock.errors import SchemaConflictError

_MARK: Final = "field "
_COMMENT: Final = "comment"
_WHOLE: Final = (IntegerType(), LongType())
_BROKEN: Final = (FloatType(), DoubleType())
# Besides decimals, Iceberg widens these in the metadata alone; other changes rewrite the column.
_PROMOTIONS: Final = {(IntegerType(), LongType()), (FloatType(), DoubleType())}


@dataclass(frozen=True, slots=True)
class NewColumn:
    """A column to add; `parent` is the path of its struct, None for the table itself."""

    parent: str | None
    column: StructField


@dataclass(frozen=True, slots=True)
class NewType:
    """A column to widen; `in_place` is true if Iceberg does so without touching data."""

    path: str
    old: DataType
    new: DataType

    @property
    def in_place(self) -> bool:
        """Return whether a change of the metadata is enough."""
        if isinstance(self.old, DecimalType) and isinstance(self.new, DecimalType):
            return self.old.scale == self.new.scale
        return (self.old, self.new) in _PROMOTIONS


@dataclass(frozen=True, slots=True)
class Growth:
    """The changes of a table to hold more; `rewritten` columns cannot be widened in place."""

    added: tuple[NewColumn, ...] = ()
    widened: tuple[NewType, ...] = ()
    rewritten: tuple[StructField, ...] = ()


def field_of(column: StructField) -> str:
    """Return the name of the event's field that a column holds."""
    comment = (column.metadata or {}).get(_COMMENT, "")
    return comment.removeprefix(_MARK) if comment.startswith(_MARK) else column.name


def is_own(column: StructField) -> bool:
    """Return whether a column is Penstock's own and not a field of the event."""
    return column.name.startswith("_")


def merge_columns(table: StructType, event: StructType, path: str = "") -> StructType:
    """Return the table's columns, widened and extended so that they hold the event's fields.

    Raises:
        SchemaConflictError: no column can hold both the type of a column and that of its field.
    """
    columns = {column.name: column for column in table.fields}
    owners = {field_of(column): column for column in table.fields if path or not is_own(column)}
    for field in event.fields:
        inside = f"{path}.{field.name}" if path else field.name
        owner = owners.get(field.name)
        type_ = _merge(owner.dataType if owner else NullType(), field.dataType, inside)
        if owner:
            columns[owner.name] = StructField(owner.name, type_, True, owner.metadata)
        elif not isinstance(type_, NullType):
            name = _free_name(field.name, columns, nested=bool(path))
            metadata = {} if name == field.name else {_COMMENT: f"{_MARK}{field.name}"}
            columns[name] = StructField(name, type_, True, metadata)
    return StructType(list(columns.values()))


def compare_columns(table: StructType, merged: StructType) -> Growth:
    """Return the changes that a table needs to have the merged columns."""
    growth = Growth()
    for column in merged.fields:
        if column.name not in table.names:
            growth = replace(growth, added=(*growth.added, NewColumn(None, column)))
            continue
        changes = list(_changes(table[column.name].dataType, column.dataType, column.name))
        types = tuple(each for each in changes if isinstance(each, NewType))
        if all(each.in_place for each in types):
            new = tuple(each for each in changes if isinstance(each, NewColumn))
            growth = replace(growth, added=growth.added + new, widened=growth.widened + types)
        else:
            growth = replace(growth, rewritten=(*growth.rewritten, column))
    return growth


def is_same(one: DataType, other: DataType) -> bool:
    """Return whether two types have the same fields in the same order; nullability is ignored."""
    return one.simpleString() == other.simpleString()


def _merge(old: DataType, new: DataType, path: str) -> DataType:
    """Return the type that holds both; `NullType` if there is nothing to hold."""
    if isinstance(new, StructType) and isinstance(old, StructType | NullType):
        before = old if isinstance(old, StructType) else StructType()
        merged = merge_columns(before, new, path)
        return merged if merged.fields else NullType()
    if isinstance(new, ArrayType) and isinstance(old, ArrayType | NullType):
        item = old.elementType if isinstance(old, ArrayType) else NullType()
        merged_item = _merge(item, new.elementType, f"{path}[]")
        return NullType() if isinstance(merged_item, NullType) else ArrayType(merged_item)
    if isinstance(new, MapType) and isinstance(old, MapType | NullType):
        item = old.valueType if isinstance(old, MapType) else NullType()
        merged_item = _merge(item, new.valueType, f"{path}{{}}")
        if isinstance(merged_item, NullType):
            return NullType()
        return MapType(new.keyType, merged_item)
    if isinstance(old, NullType) or isinstance(new, NullType):
        return new if isinstance(old, NullType) else old
    return _merge_leaves(old, new, path)


def _merge_leaves(old: DataType, new: DataType, path: str) -> DataType:
    if old == new:
        return old
    for order in (_WHOLE, _BROKEN):
        if old in order and new in order:
            return max(old, new, key=order.index)
    if {old, new} <= {*_WHOLE, *_BROKEN}:
        return DoubleType()
    if isinstance(old, DecimalType) and isinstance(new, DecimalType) and old.scale == new.scale:
        return max(old, new, key=lambda decimal: decimal.precision)
    raise SchemaConflictError(
        f"{path}: the column is {old.simpleString()} and the records have {new.simpleString()}, "
        "expected types that one column can hold: write these records to a table of their own",
        path=path,
    )


def _free_name(field: str, taken: Iterable[str], *, nested: bool) -> str:
    wanted = f"event{field}" if field.startswith("_") and not nested else field
    lowered = {name.lower() for name in taken}
    names = (wanted if number == 1 else f"{wanted}_{number}" for number in count(1))
    return next(name for name in names if name.lower() not in lowered)


def _changes(old: DataType, new: DataType, path: str) -> Iterator[NewColumn | NewType]:
    if isinstance(old, StructType) and isinstance(new, StructType):
        for column in new.fields:
            if column.name in old.names:
                inside = f"{path}.{column.name}"
                yield from _changes(old[column.name].dataType, column.dataType, inside)
            else:
                yield NewColumn(path, column)
    elif isinstance(old, ArrayType) and isinstance(new, ArrayType):
        yield from _changes(old.elementType, new.elementType, f"{path}.element")
    elif isinstance(old, MapType) and isinstance(new, MapType):
        yield from _changes(old.valueType, new.valueType, f"{path}.value")
    elif old != new:
        yield NewType(path, old, new)
