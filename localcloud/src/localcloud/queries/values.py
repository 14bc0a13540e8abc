"""Types and values as Athena writes them: everything is text."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import pyarrow as pa

_TYPES = {
    "BIGINT": "bigint",
    "BLOB": "varbinary",
    "BOOLEAN": "boolean",
    "DATE": "date",
    "DOUBLE": "double",
    "FLOAT": "float",
    "HUGEINT": "bigint",  # the sum of integers
    "INTEGER": "integer",
    "INTERVAL": "interval day to second",
    "JSON": "json",
    '"NULL"': "unknown",
    "SMALLINT": "smallint",
    "TIME": "time",
    "TIMESTAMP": "timestamp",
    "TIMESTAMP WITH TIME ZONE": "timestamp with time zone",
    "TINYINT": "tinyint",
    "UBIGINT": "bigint",  # a number of elements
}
_STARTS = {
    "DECIMAL": "decimal",
    "MAP": "map",
    "STRUCT": "row",
    "TIMESTAMP": "timestamp",
    "TUPLE": "row",
}
# From here on, and below a thousandth, Java writes a number with an exponent.
_LARGE, _SMALL = 1e7, 1e-3


def name_type(duckdb_type: str) -> str:
    """Return Athena's name of a DuckDB type."""
    if duckdb_type.endswith("]"):
        return "array"
    known = _TYPES.get(duckdb_type)
    return known or _STARTS.get(re.split(r"[(_]", duckdb_type)[0], "varchar")


def write_value(value: Any) -> str | None:
    """Return a value as Athena's results show it."""
    if value is None:
        return None
    write = next((write for kind, write in _WRITERS if isinstance(value, kind)), str)
    return write(value)


def _write_row(value: dict[str, Any]) -> str:
    return "{" + ", ".join(f"{key}={_inner(one)}" for key, one in value.items()) + "}"


def _write_list(values: list[Any]) -> str:
    """Write an array, or a map, which comes as a list of pairs."""
    if values and all(isinstance(each, tuple) for each in values):
        return "{" + ", ".join(f"{_inner(key)}={_inner(one)}" for key, one in values) + "}"
    return "[" + ", ".join(map(_inner, values)) + "]"


def _inner(value: Any) -> str:
    written = write_value(value)
    return "null" if written is None else written


def _write_double(value: float) -> str:
    if not math.isfinite(value):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(value)]
    if value == 0 or _SMALL <= abs(value) < _LARGE:
        return repr(value)
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    text, power = "".join(map(str, digits)), len(digits) + int(exponent) - 1
    return f"{'-' if sign else ''}{text[0]}.{text[1:] or '0'}E{power}"


def _write_timestamp(value: datetime) -> str:
    if value.tzinfo is None:
        return value.isoformat(" ", "milliseconds")
    return f"{value.replace(tzinfo=None).isoformat(' ', 'milliseconds')} UTC"


def _write_interval(value: pa.MonthDayNano) -> str:
    if value.months:
        sign, months = "-" if value.months < 0 else "", abs(value.months)
        return f"{sign}{months // 12}-{months % 12}"
    total = value.days * 86_400_000 + value.nanoseconds // 1_000_000
    seconds, milliseconds = divmod(abs(total), 1000)
    minutes, hours = seconds // 60, seconds // 3600
    clock = f"{hours % 24:02}:{minutes % 60:02}:{seconds % 60:02}.{milliseconds:03}"
    return f"{'-' if total < 0 else ''}{hours // 24} {clock}"


# The first match counts: a datetime is also a date, and a bool is also a number.
_WRITERS: tuple[tuple[Any, Callable[[Any], str]], ...] = (
    (bool, lambda value: "true" if value else "false"),
    (float, _write_double),
    (bytes, lambda value: value.hex(" ")),
    (datetime, _write_timestamp),
    ((date, time), lambda value: value.isoformat()),
    (dict, _write_row),
    (pa.MonthDayNano, _write_interval),
    (list, _write_list),
)
