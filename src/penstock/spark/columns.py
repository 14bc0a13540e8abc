"""The columns of a table (`penstock.tables`) as types of Spark."""

from __future__ import annotations

import re
from typing import Final

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    ByteType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    NullType,
    ShortType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from penstock.tables import Array, Column, ColumnType, Growth, Map, Struct, match_fields
from penstock.tables import compare_columns as compare
from penstock.tables import merge_columns as merge

COMMENT: Final = "comment"
_DECIMAL: Final = re.compile(r"decimal\((\d+),(\d+)\)")
_LEAVES: Final = {
    each.simpleString(): each
    for each in (
        BinaryType(),
        BooleanType(),
        ByteType(),
        DateType(),
        DoubleType(),
        FloatType(),
        IntegerType(),
        LongType(),
        NullType(),
        ShortType(),
        StringType(),
        TimestampNTZType(),
        TimestampType(),
    )
}


def match_columns(
    columns: StructType, event: StructType, *, is_nested: bool = True
) -> dict[str, StructField]:
    """Return the fields of an event by the names of the columns that hold them."""
    read = read_columns(columns).columns
    own = [each for each in read if is_nested or not each.is_own]
    found = match_fields(own, read_columns(event).columns)
    return {column.name: event[name] for name, column in found.items()}


def merge_columns(table: StructType, event: StructType) -> StructType:
    """Return the table's columns, widened and extended so that they hold the event's fields.

    Raises:
        SchemaConflictError: no column can hold both the type of a column and that of its field.
    """
    return to_spark(merge(read_columns(table), read_columns(event)))


def compare_columns(table: StructType, merged: StructType) -> Growth:
    """Return the changes that a table needs to have the merged columns."""
    return compare(read_columns(table), read_columns(merged))


def is_same(one: DataType, other: DataType) -> bool:
    """Return whether two types have the same fields in the same order; nullability is ignored."""
    return one.simpleString() == other.simpleString()


def read_columns(struct: StructType) -> Struct:
    """Return the columns of a Spark type; nullability is ignored."""
    return Struct(tuple(map(_read_field, struct.fields)))


def _read_field(field: StructField) -> Column:
    comment = (field.metadata or {}).get(COMMENT, "")
    return Column(field.name, _read_type(field.dataType), comment)


def _read_type(type_: DataType) -> ColumnType:
    if isinstance(type_, StructType):
        return read_columns(type_)
    if isinstance(type_, ArrayType):
        return Array(_read_type(type_.elementType))
    if isinstance(type_, MapType):
        return Map(_read_type(type_.keyType), _read_type(type_.valueType))
    return type_.simpleString()


def to_spark(columns: Struct) -> StructType:
    """Return columns as a Spark type; each is nullable."""
    return StructType(list(map(to_field, columns.columns)))


def to_field(column: Column) -> StructField:
    """Return a column as a field of a Spark type."""
    metadata = {COMMENT: column.comment} if column.comment else {}
    return StructField(column.name, to_type(column.type), True, metadata)


def to_type(type_: ColumnType) -> DataType:
    """Return the type of a column as Spark's."""
    if isinstance(type_, Struct):
        return to_spark(type_)
    if isinstance(type_, Array):
        return ArrayType(to_type(type_.item))
    if isinstance(type_, Map):
        return MapType(to_type(type_.key), to_type(type_.value))
    if decimal := _DECIMAL.fullmatch(type_):
        return DecimalType(int(decimal[1]), int(decimal[2]))
    return _LEAVES.get(type_) or DataType.fromDDL(type_)
