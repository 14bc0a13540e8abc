"""Convert values of an event to those of a table's columns, in SQL that an UPDATE accepts too."""

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

# A double holds every whole number up to here exactly; beyond, some would be rounded.
_MAX_EXACT: Final = 2**53

EVENT_TIME: Final = "_event_time"
# A reading's key has 13 digits for the time, enough until the year 2286.
_MAX_MILLISECONDS: Final = 10**13 - 1
DAYS_BEFORE: Final = 30


class Inexact(Enum):
    """The conversion of a whole number that no double equals."""

    FAIL = "fail"
    NULL = "null"


def quote(name: str) -> str:
    """Quote a name for SQL."""
    return f"`{name.replace('`', '``')}`"


def project_event(event: StructType, columns: StructType) -> dict[str, str]:
    """Return the SQL of each column's value from an event, for columns whose field it has."""
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
    """Return the SQL that converts a value of type `old` to `new`; fields match by name.

    `old` is the type of an event's field or a column, `new` that of a column that can hold both.
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
    """Return a type in SQL, with every name quoted."""
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


def write_event_time(event: StructType, field: str | None, days_before: int = DAYS_BEFORE) -> str:
    """Return the SQL of an event's time; `field` holds milliseconds, a date or a timestamp.

    A wrong clock loses no row: a missing or invalid time is replaced by Kafka's timestamp. So is a
    time more than `days_before` days before it or a day after it. Tables are partitioned by day,
    and a task holds a file open for each day, so random times would exhaust its memory.
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
    return (
        f"IF({told} BETWEEN _kafka_timestamp - INTERVAL {days_before} DAYS "
        f"AND _kafka_timestamp + INTERVAL 1 DAY, {told}, _kafka_timestamp)"
    )
