"""The columns of the events of a merged schema.

| Avro                                       | column                                      |
| ------------------------------------------ | ------------------------------------------- |
| int, long, float, double                   | int, bigint, float, double                  |
| string, enum                               | string                                      |
| bytes, fixed                               | binary, or decimal(P,S) of up to 38 digits  |
| date                                       | date                                        |
| timestamp-millis, timestamp-micros         | timestamp                                   |
| local-timestamp-millis, -micros            | timestamp_ntz                               |
| record, array, map                         | struct, array, map<string,...>              |
| a union of null and one type               | the column of that type                     |
| a union of more types                      | struct<member0:...,member1:...>             |

A field that can hold only null and empty records has no column.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from penstock.schemas import Schema, find_decimal
from penstock.tables.columns import VOID, Array, Column, ColumnType, Map, Struct

_LEAVES: Final = {
    "null": VOID,
    "boolean": "boolean",
    "int": "int",
    "long": "bigint",
    "float": "float",
    "double": "double",
    "bytes": "binary",
    "fixed": "binary",
    "string": "string",
    "enum": "string",
}
_LOGICAL: Final = {
    ("int", "date"): "date",
    ("long", "timestamp-millis"): "timestamp",
    ("long", "timestamp-micros"): "timestamp",
    ("long", "local-timestamp-millis"): "timestamp_ntz",
    ("long", "local-timestamp-micros"): "timestamp_ntz",
}


def read_event(merged: Schema) -> Struct:
    """Return the fields of the events of a schema that `merge_schemas` returned."""
    type_ = _read(merged, {})
    return type_ if isinstance(type_, Struct) else Struct()


def _read(part: Any, named: dict[str, ColumnType]) -> ColumnType:
    if isinstance(part, str):
        return named[part] if part in named else _LEAVES[part]
    if isinstance(part, list):
        return _read_union([_read(each, named) for each in part if each != "null"])
    kind = part["type"]
    type_ = _read_complex(part, kind, named)
    if "name" in part:
        named[part["name"]] = type_
    return type_


def _read_complex(part: dict[str, Any], kind: str, named: dict[str, ColumnType]) -> ColumnType:
    if kind == "record":
        fields = {each["name"]: _read(each["type"], named) for each in part["fields"]}
        return _make_struct(fields)
    if kind == "array":
        return Array(_read(part["items"], named))
    if kind == "map":
        return Map("string", _read(part["values"], named))
    logical = part.get("logicalType")
    if kind in {"bytes", "fixed"} and (decimal := find_decimal(part, part.get("size"))):
        return f"decimal({decimal[0]},{decimal[1]})"
    return _LOGICAL.get((kind, str(logical))) or named.get(kind) or _LEAVES[kind]


def _read_union(types: list[ColumnType]) -> ColumnType:
    if len(types) < 2:
        return types[0] if types else VOID
    return _make_struct({f"member{at}": type_ for at, type_ in enumerate(types)})


def _make_struct(fields: Mapping[str, ColumnType]) -> Struct:
    """Return a struct of the fields that can hold a value."""
    held = {name: type_ for name, type_ in fields.items() if type_ not in {VOID, Struct()}}
    return Struct(tuple(Column(name, type_) for name, type_ in held.items()))
