"""The column types of the Glue catalog, such as `array<struct<a:int>>`, as Arrow types."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pyarrow as pa

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


def _split(text: str) -> Iterator[str]:
    """Split at the commas outside brackets."""
    depth, start = 0, 0
    for at, letter in enumerate(text):
        depth += (letter in "<(") - (letter in ">)")
        if letter == "," and depth == 0:
            yield text[start:at]
            start = at + 1
    yield text[start:]
