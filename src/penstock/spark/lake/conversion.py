"""Convert the values of an event to those of columns, in SQL that UPDATE statements accept too."""

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
from penstock.spark.columns import is_same, match_columns, read_columns
from penstock.spark.rows import EVENT

# A double holds every whole number up to this one exactly; some larger ones would be rounded.
_MAX_EXACT: Final = 2**53

_UNITS: Final = {1_000_000_000: "SECONDS", 1_000_000: "MILLIS", 1_000: "MICROS"}

_DATES: Final = "DATE '0001-01-01' AND DATE '9999-12-31'"
_DAY_MICROSECONDS: Final = 86_400_000_000


def quote(name: str) -> str:
    """Quote a name for SQL."""
    return f"`{name.replace('`', '``')}`"


def quote_text(text: str) -> str:
    """Write a text as a literal of Spark's SQL."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def project_event(event: StructType, columns: StructType) -> dict[str, str]:
    """Return the SQL of the value of each column whose field the event has, by column."""
    held = match_columns(columns, event, is_nested=False)
    return {
        name: convert(f"{EVENT}.{quote(field.name)}", field.dataType, columns[name].dataType)
        for name in columns.names
        if (field := held.get(name))
    }


def find_inexact(event: StructType, columns: StructType) -> dict[str, str]:
    """Return SQL conditions, by field: a column would round a whole number of the event."""
    held = match_columns(columns, event, is_nested=False)
    found = {
        field.name: is_inexact(
            f"{EVENT}.{quote(field.name)}", field.dataType, columns[name].dataType
        )
        for name, field in held.items()
    }
    return {field: condition for field, condition in found.items() if condition}


def is_inexact(value: str, old: DataType, new: DataType) -> str:
    """Return the SQL condition that `convert` would make null of a whole number in a value.

    It is empty if the types have no such number.
    """
    condition = _find_inexact(value, old, new, count())
    return condition and f"COALESCE({condition}, FALSE)"


def _find_inexact(value: str, old: DataType, new: DataType, variable_numbers: count[int]) -> str:
    if isinstance(old, LongType) and isinstance(new, DoubleType):
        return f"({value} NOT BETWEEN -{_MAX_EXACT} AND {_MAX_EXACT})"
    if isinstance(old, StructType) and isinstance(new, StructType):
        sources = match_columns(new, old)
        inside = (
            _find_inexact(
                f"{value}.{quote(own.name)}", own.dataType, new[name].dataType, variable_numbers
            )
            for name, own in sources.items()
        )
        return " OR ".join(filter(None, inside))
    item = f"v{next(variable_numbers)}"
    if isinstance(old, ArrayType) and isinstance(new, ArrayType):
        condition = _find_inexact(item, old.elementType, new.elementType, variable_numbers)
        return condition and f"EXISTS({value}, {item} -> {condition})"
    if isinstance(old, MapType) and isinstance(new, MapType):
        condition = _find_inexact(item, old.valueType, new.valueType, variable_numbers)
        return condition and f"EXISTS(MAP_VALUES({value}), {item} -> {condition})"
    return ""


def convert(value: str, old: DataType, new: DataType) -> str:
    """Return the SQL that converts a value from type `old` to `new`; fields match by their content.

    `old` is the type of a field of an event or of a column, `new` the type of a column that can
    hold all values of `old`. A whole number that a double would round becomes null.
    """
    return _convert_value(value, old, new, count())


def _convert_value(value: str, old: DataType, new: DataType, variable_numbers: count[int]) -> str:
    if is_same(old, new) and _is_in_order(old, new):
        return value
    if isinstance(old, StructType) and isinstance(new, StructType):
        return _convert_struct(value, old, new, variable_numbers)
    item = f"v{next(variable_numbers)}"
    if isinstance(old, ArrayType) and isinstance(new, ArrayType):
        converted = _convert_value(item, old.elementType, new.elementType, variable_numbers)
        return f"TRANSFORM({value}, {item} -> {converted})"
    if isinstance(old, MapType) and isinstance(new, MapType):
        converted = _convert_value(item, old.valueType, new.valueType, variable_numbers)
        return f"TRANSFORM_VALUES({value}, (k{item}, {item}) -> {converted})"
    if isinstance(old, LongType) and isinstance(new, DoubleType):
        return f"IF({value} BETWEEN -{_MAX_EXACT} AND {_MAX_EXACT}, CAST({value} AS DOUBLE), NULL)"
    return f"CAST({value} AS {write_type(new)})"


def _convert_struct(
    value: str, old: StructType, new: StructType, variable_numbers: count[int]
) -> str:
    sources = match_columns(new, old)
    parts = []
    for column in new.fields:
        source = sources.get(column.name)
        if source is None:
            converted = f"CAST(NULL AS {write_type(column.dataType)})"
        else:
            inside = f"{value}.{quote(source.name)}"
            converted = _convert_value(inside, source.dataType, column.dataType, variable_numbers)
        parts.append(f"'{column.name}', {converted}")
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
    """Return the SQL of a type, with every name quoted."""
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

    Kafka's timestamp replaces a time that is missing, invalid or too far from that timestamp, so a
    wrong clock loses no row. Tables are partitioned by day, and a task holds a file open for each
    day, so random times would exhaust its memory.

    Attributes:
        field: the event's field, by its name in JSON; it holds a time as `schemas.times` reads it,
            a date or a timestamp.
        days_before: the most days that the time may be before Kafka's timestamp; it may be at most
            one day after it.
    """

    field: str | None = READING.event_time
    days_before: int = 30

    def write(self, event: StructType) -> str:
        """Return the SQL of the time of an event of this type."""
        fields = {each.field: each.name for each in read_columns(event).columns}
        # A transform may have taken the comment with the name in JSON away.
        name = self.field and (fields.get(self.field) or fields.get(avro_name(self.field)))
        if not name:
            return "_kafka_timestamp"
        type_ = event[name].dataType
        value = f"{EVENT}.{quote(name)}"
        if isinstance(type_, IntegerType | LongType):
            time = _read_number(value)
        elif isinstance(type_, StringType):
            valid = f"{value} RLIKE '^{TIME_PATTERN}$'"
            time = f"IF({valid}, TRY_CAST({value} AS TIMESTAMP), NULL)"
        elif isinstance(type_, DateType):
            # Spark fails the task if a date has no timestamp, as very large years have none.
            time = f"IF({value} BETWEEN {_DATES}, CAST({value} AS TIMESTAMP), NULL)"
        elif isinstance(type_, TimestampType | TimestampNTZType):
            time = f"CAST({value} AS TIMESTAMP)"
        else:
            return "_kafka_timestamp"
        # In microseconds, because Spark adds an interval in a time zone. The event's time may be
        # any long, so a sum with it could overflow, as one with the last timestamps of Kafka would.
        kafka = f"LEAST(UNIX_MICROS(_kafka_timestamp), {2**63 - 1 - _DAY_MICROSECONDS})"
        before = self.days_before * _DAY_MICROSECONDS
        near = f"UNIX_MICROS({time}) BETWEEN {kafka} - {before} AND {kafka} + {_DAY_MICROSECONDS}"
        return f"IF({near}, {time}, _kafka_timestamp)"


def _read_number(value: str) -> str:
    """Return the SQL that reads a whole number as a time; its size determines the unit."""
    cases, least = [], 0
    for beyond, size in TIME_UNITS:
        last = min(beyond, END_NANOSECONDS // size) - 1
        cases.append(
            f"WHEN {value} BETWEEN {least} AND {last} THEN TIMESTAMP_{_UNITS[size]}({value})"
        )
        least = beyond
    return f"CASE {' '.join(cases)} END"
