"""Convert values of an event to those of a table's columns, in SQL that an UPDATE accepts too."""

from __future__ import annotations

from dataclasses import dataclass
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
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from penstock.records import READING
from penstock.schemas import END_NANOSECONDS, TIME_PATTERN, TIME_UNITS, avro_name
from penstock.spark.columns import is_same, match_columns
from penstock.spark.rows import EVENT

# A double holds every whole number up to here exactly; beyond, some would be rounded.
_MAX_EXACT: Final = 2**53

_UNITS: Final = {1_000_000_000: "SECONDS", 1_000_000: "MILLIS", 1_000: "MICROS"}

_DATES: Final = "DATE '0001-01-01' AND DATE '9999-12-31'"
_DAY_MICROSECONDS: Final = 86_400_000_000


def quote(name: str) -> str:
    """Quote a name for SQL."""
    return f"`{name.replace('`', '``')}`"


def project_event(event: StructType, columns: StructType) -> dict[str, str]:
    """Return the SQL of each column's value from an event, for columns whose field it has."""
    held = match_columns(columns, event, is_nested=False)
    return {
        name: convert(f"{EVENT}.{quote(field.name)}", field.dataType, columns[name].dataType)
        for name in columns.names
        if (field := held.get(name))
    }


def find_inexact(event: StructType, columns: StructType) -> dict[str, str]:
    """Return the conditions that a column would round a whole number of an event, by field."""
    held = match_columns(columns, event, is_nested=False)
    found = {
        field.name: _find_inexact(
            f"{EVENT}.{quote(field.name)}", field.dataType, columns[name].dataType, count()
        )
        for name, field in held.items()
    }
    return {
        field: f"COALESCE({condition}, FALSE)" for field, condition in found.items() if condition
    }


def _find_inexact(value: str, old: DataType, new: DataType, numbers: count[int]) -> str:
    if isinstance(old, LongType) and isinstance(new, DoubleType):
        return f"({value} NOT BETWEEN -{_MAX_EXACT} AND {_MAX_EXACT})"
    if isinstance(old, StructType) and isinstance(new, StructType):
        sources = match_columns(new, old)
        inside = (
            _find_inexact(f"{value}.{quote(own.name)}", own.dataType, new[name].dataType, numbers)
            for name, own in sources.items()
        )
        return " OR ".join(filter(None, inside))
    item = f"v{next(numbers)}"
    if isinstance(old, ArrayType) and isinstance(new, ArrayType):
        condition = _find_inexact(item, old.elementType, new.elementType, numbers)
        return condition and f"EXISTS({value}, {item} -> {condition})"
    if isinstance(old, MapType) and isinstance(new, MapType):
        condition = _find_inexact(item, old.valueType, new.valueType, numbers)
        return condition and f"EXISTS(MAP_VALUES({value}), {item} -> {condition})"
    return ""


def convert(value: str, old: DataType, new: DataType) -> str:
    """Return the SQL that converts a value of type `old` to `new`; fields match by what they hold.

    `old` is the type of an event's field or a column, `new` that of a column that can hold both. A
    whole number that no double equals becomes null.
    """
    return _convert(value, old, new, count())


def _convert(value: str, old: DataType, new: DataType, numbers: count[int]) -> str:
    if is_same(old, new) and _is_in_order(old, new):
        return value
    if isinstance(old, StructType) and isinstance(new, StructType):
        return _convert_struct(value, old, new, numbers)
    item = f"v{next(numbers)}"
    if isinstance(old, ArrayType) and isinstance(new, ArrayType):
        made = _convert(item, old.elementType, new.elementType, numbers)
        return f"TRANSFORM({value}, {item} -> {made})"
    if isinstance(old, MapType) and isinstance(new, MapType):
        made = _convert(item, old.valueType, new.valueType, numbers)
        return f"TRANSFORM_VALUES({value}, (k{item}, {item}) -> {made})"
    if isinstance(old, LongType) and isinstance(new, DoubleType):
        return f"IF({value} BETWEEN -{_MAX_EXACT} AND {_MAX_EXACT}, CAST({value} AS DOUBLE), NULL)"
    return f"CAST({value} AS {write_type(new)})"


def _convert_struct(value: str, old: StructType, new: StructType, numbers: count[int]) -> str:
    sources = match_columns(new, old)
    parts = []
    for column in new.fields:
        source = sources.get(column.name)
        if source is None:
            made = f"CAST(NULL AS {write_type(column.dataType)})"
        else:
            inside = f"{value}.{quote(source.name)}"
            made = _convert(inside, source.dataType, column.dataType, numbers)
        parts.append(f"'{column.name}', {made}")
    return f"IF({value} IS NULL, NULL, NAMED_STRUCT({', '.join(parts)}))"


def _is_in_order(old: DataType, new: DataType) -> bool:
    """Return whether each field of two types with the same names holds what its namesake holds."""
    if isinstance(old, StructType) and isinstance(new, StructType):
        sources = match_columns(new, old)
        return all(
            (source := sources.get(each.name)) is not None
            and source.name == each.name
            and _is_in_order(source.dataType, each.dataType)
            for each in new.fields
        )
    if isinstance(old, ArrayType) and isinstance(new, ArrayType):
        return _is_in_order(old.elementType, new.elementType)
    if isinstance(old, MapType) and isinstance(new, MapType):
        return _is_in_order(old.valueType, new.valueType)
    return True


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


@dataclass(frozen=True, slots=True)
class EventTime:
    """The time of an event, from which the day of its row is taken.

    A wrong clock loses no row: a missing or invalid time is replaced by Kafka's timestamp. So is a
    time that is too far from it. Tables are partitioned by day, and a task holds a file open for
    each day, so random times would exhaust its memory.

    Attributes:
        field: the event's field, by its name in JSON; it holds a time as `schemas.times` reads it,
            a date or a timestamp.
        days_before: days that it may lie before Kafka's timestamp; it may lie one day after it.
    """

    field: str | None = READING.event_time
    days_before: int = 30

    def write(self, event: StructType) -> str:
        """Return the SQL of the time of an event of this type."""
        name = None if self.field is None else avro_name(self.field)
        if name is None or name not in event.names:
            return "_kafka_timestamp"
        type_ = event[name].dataType
        value = f"{EVENT}.{quote(name)}"
        if isinstance(type_, IntegerType | LongType):
            told = _read_number(value)
        elif isinstance(type_, StringType):
            valid = f"{value} RLIKE '^{TIME_PATTERN}$'"
            told = f"IF({valid}, TRY_CAST({value} AS TIMESTAMP), NULL)"
        elif isinstance(type_, DateType):
            # A date of many years has no timestamp, and the cast of one ends the task.
            told = f"IF({value} BETWEEN {_DATES}, CAST({value} AS TIMESTAMP), NULL)"
        elif isinstance(type_, TimestampType | TimestampNTZType):
            told = f"CAST({value} AS TIMESTAMP)"
        else:
            return "_kafka_timestamp"
        # In microseconds, since Spark adds an interval by way of a time zone. The event's time may
        # be any long, so nothing is added to it.
        kafka, before = "UNIX_MICROS(_kafka_timestamp)", self.days_before * _DAY_MICROSECONDS
        near = f"UNIX_MICROS({told}) BETWEEN {kafka} - {before} AND {kafka} + {_DAY_MICROSECONDS}"
        return f"IF({near}, {told}, _kafka_timestamp)"


def _read_number(value: str) -> str:
    """Return the SQL of the time that a whole number is, by its size."""
    cases, least = [], 0
    for beyond, size in TIME_UNITS:
        last = min(beyond, END_NANOSECONDS // size) - 1
        cases.append(
            f"WHEN {value} BETWEEN {least} AND {last} THEN TIMESTAMP_{_UNITS[size]}({value})"
        )
        least = beyond
    return f"CASE {' '.join(cases)} END"
