"""Values of an event as values of a table's columns, in SQL, which an UPDATE takes too."""

from __future__ import annotations

from enum import Enum
from itertools import count
from typing import Final

from pyspark.sql.types import (
    ArrayType,
    DataType,
    DateType,
    DoubleType,
    IntegerType,
    LongType,
    MapType,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from penstock.spark.lake.columns import field_of, is_own, is_same
from penstock.spark.rows import EVENT

# Whole numbers up to here are doubles, each one; beyond, some would be rounded.
_MAX_EXACT: Final = 2**53

EVENT_TIME: Final = "_event_time"
# The 13 digits that a reading's key has for it; beyond lies the year 2286.
_MAX_MILLISECONDS: Final = 10**13 - 1


class Inexact(Enum):
    """What becomes of a whole number that no double equals."""

    FAIL = "fail"
    NULL = "null"


def quote(name: str) -> str:
    """Quote a name for SQL."""
    return f"`{name.replace('`', '``')}`"


def project_event(event: StructType, columns: StructType) -> dict[str, str]:
    """Write the SQL of what each column takes from an event, where the event has its field."""
    return {
        column.name: convert(
            f"{EVENT}.{quote(field_of(column))}",
            event[field_of(column)].dataType,
            column.dataType,
            Inexact.FAIL,
        )
        for column in columns.fields
        if not is_own(column) and field_of(column) in event.names
    }


def convert(value: str, old: DataType, new: DataType, inexact: Inexact) -> str:
    """Write the SQL that makes a value of `new` of one of `old`, by the names of fields.

    `old` is the event's type or that of a column, `new` that of a column which can hold both.
    """
    return _convert(value, old, new, inexact, count())


def _convert(
    value: str, old: DataType, new: DataType, inexact: Inexact, numbers: count[int]
) -> str:
    if is_same(old, new):
        return value
    if isinstance(old, StructType) and isinstance(new, StructType):
        return _convert_struct(value, old, new, inexact, numbers)
    item = f"v{next(numbers)}"
    if isinstance(old, ArrayType) and isinstance(new, ArrayType):
        made = _convert(item, old.elementType, new.elementType, inexact, numbers)
        return f"TRANSFORM({value}, {item} -> {made})"
    if isinstance(old, MapType) and isinstance(new, MapType):
        made = _convert(item, old.valueType, new.valueType, inexact, numbers)
        return f"TRANSFORM_VALUES({value}, (k{item}, {item}) -> {made})"
    if isinstance(old, LongType) and isinstance(new, DoubleType):
        return _to_double(value, inexact)
    return f"CAST({value} AS {write_type(new)})"


def _convert_struct(
    value: str, old: StructType, new: StructType, inexact: Inexact, numbers: count[int]
) -> str:
    sources = {field_of(column): column for column in old.fields}
    parts = []
    for column in new.fields:
        source = sources.get(field_of(column))
        if source is None:
            made = f"CAST(NULL AS {write_type(column.dataType)})"
        else:
            inside = f"{value}.{quote(source.name)}"
            made = _convert(inside, source.dataType, column.dataType, inexact, numbers)
        parts.append(f"'{column.name}', {made}")
    return f"IF({value} IS NULL, NULL, NAMED_STRUCT({', '.join(parts)}))"


def write_type(type_: DataType) -> str:
    """Write a type in SQL, with every name quoted."""
    if isinstance(type_, StructType):
        fields = (f"{quote(field.name)}: {write_type(field.dataType)}" for field in type_.fields)
        return f"STRUCT<{', '.join(fields)}>"
    if isinstance(type_, ArrayType):
        return f"ARRAY<{write_type(type_.elementType)}>"
    if isinstance(type_, MapType):
        return f"MAP<{write_type(type_.keyType)}, {write_type(type_.valueType)}>"
    return type_.simpleString().upper()


def _to_double(value: str, inexact: Inexact) -> str:
    beyond = f"{value} < -{_MAX_EXACT} OR {value} > {_MAX_EXACT}"
    otherwise = (
        "NULL"
        if inexact is Inexact.NULL
        else f"RAISE_ERROR(CONCAT('{value}: found ', {value}, ', expected a whole number "
        f"within {_MAX_EXACT} of 0: its column is double, which would round it'))"
    )
    return f"IF({beyond}, {otherwise}, CAST({value} AS DOUBLE))"


def write_event_time(event: StructType, field: str | None) -> str:
    """Write the SQL of an event's time; `field` holds it, as milliseconds or a date or timestamp.

    A clock that is wrong loses no row: what is absent or no time is taken from Kafka.
    """
    if field is None or field not in event.names:
        return "_kafka_timestamp"
    type_ = event[field].dataType
    value = f"{EVENT}.{quote(field)}"
    if isinstance(type_, IntegerType | LongType):
        told = f"IF({value} BETWEEN 0 AND {_MAX_MILLISECONDS}, TIMESTAMP_MILLIS({value}), NULL)"
    elif isinstance(type_, DateType | TimestampType | TimestampNTZType):
        told = f"CAST({value} AS TIMESTAMP)"
    else:
        return "_kafka_timestamp"
    return f"COALESCE({told}, _kafka_timestamp)"
