"""The column types of the Glue catalog, such as `array<struct<a:int>>`: read and written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from duckdb.sqltypes import DuckDBPyType

_PLAIN = {
    "bigint": pa.int64(),
    "binary": pa.binary(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "double": pa.float64(),
    "float": pa.float32(),
    "int": pa.int32(),
    "integer": pa.int32(),
    "smallint": pa.int16(),
    "string": pa.string(),
    "timestamp": pa.timestamp("us"),
    "tinyint": pa.int8(),
}
# Types of DuckDB: what the catalog calls them, and what Trino does.
_WRITTEN = {
    "bigint": ("bigint", "bigint"),
    "blob": ("binary", "varbinary"),
    "boolean": ("boolean", "boolean"),
    "date": ("date", "date"),
    "double": ("double", "double"),
    "float": ("float", "real"),
    "hugeint": ("bigint", "bigint"),  # the sum of integers
    "integer": ("int", "integer"),
    "smallint": ("smallint", "smallint"),
    "timestamp": ("timestamp", "timestamp(3)"),
    "timestamp_ms": ("timestamp", "timestamp(3)"),
    "timestamp_s": ("timestamp", "timestamp(3)"),
    "timestamp with time zone": ("", "timestamp(3) with time zone"),
    "tinyint": ("tinyint", "tinyint"),
    "ubigint": ("bigint", "bigint"),
    "varchar": ("string", "varchar"),
}
_DECIMAL = re.compile(r"decimal\((\d+),\s*(\d+)\)")
_TEXT = re.compile(r"(varchar|char)\(\d+\)")
_NESTED = re.compile(r"(array|map|struct)<(.*)>", re.DOTALL)


def read_type(text: str) -> pa.DataType:
    """Return the Arrow type of a catalog type.

    Raises:
        ValueError: the type is unknown.
    """
    text = text.strip().lower()
    if text in _PLAIN:
        return _PLAIN[text]
    if match := _DECIMAL.fullmatch(text):
        return pa.decimal128(int(match[1]), int(match[2]))
    if _TEXT.fullmatch(text):
        return pa.string()
    nested = _NESTED.fullmatch(text)
    if nested is None:
        raise ValueError(f"the catalog type {text!r} is not supported")
    parts = list(_split(nested[2]))
    if nested[1] == "array":
        return pa.list_(read_type(parts[0]))
    if nested[1] == "map":
        return pa.map_(read_type(parts[0]), read_type(parts[1]))
    fields = (part.partition(":") for part in parts)
    return pa.struct([(name.strip(), read_type(kind)) for name, _, kind in fields])


def write_catalog_type(kind: DuckDBPyType) -> str:
    """Return the catalog's name of a type.

    Raises:
        ValueError: the catalog has no such type; the message is Athena's.
    """
    return _write_type(kind, 0)


def write_trino_type(kind: DuckDBPyType) -> str:
    """Return Trino's name of a type; raise ValueError if it has none."""
    return _write_type(kind, 1)


def _write_type(kind: Any, column: int) -> str:
    known = _WRITTEN.get(str(kind).lower(), ("", ""))
    if known[column]:
        return known[column]
    if kind.id == "decimal":
        (_, precision), (_, scale) = kind.children
        return f"decimal({precision},{scale})"
    opening, colon, closing = ("<", ":", ">") if column == 0 else ("(", " ", ")")
    if kind.id in {"list", "map"}:
        inner = ",".join(_write_type(each, column) for _, each in kind.children)
        return f"{'array' if kind.id == 'list' else 'map'}{opening}{inner}{closing}"
    if kind.id == "struct":
        fields = (f"{name}{colon}{_write_type(each, column)}" for name, each in kind.children)
        return f"{'struct' if column == 0 else 'row'}{opening}{','.join(fields)}{closing}"
    raise ValueError(f"NOT_SUPPORTED: Unsupported Hive type: {known[1] or str(kind).lower()}")


def _split(text: str) -> Iterator[str]:
    """Split at the commas outside brackets."""
    depth, start = 0, 0
    for at, letter in enumerate(text):
        depth += (letter in "<(") - (letter in ">)")
        if letter == "," and depth == 0:
            yield text[start:at]
            start = at + 1
    yield text[start:]
