"""The columns of an Iceberg table, from a JSON schema.

Amazon MSK Developer Guide, "Schema type mapping".
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from itertools import count
from typing import Any

from pyiceberg.schema import Schema
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    IcebergType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    NestedField,
    StringType,
    StructType,
    TimestamptzType,
    TimeType,
    UUIDType,
)

_MAX_DEPTH = 16
_FORMATS: dict[str, IcebergType] = {
    "date-time": TimestamptzType(),
    "date": DateType(),
    "time": TimeType(),
    "uuid": UUIDType(),
    "byte": BinaryType(),
}
INT = range(-(2**31), 2**31)
_DIGITS = 38


class SchemaError(Exception):
    """A schema that has no table."""


def read_schema(definition: str, partition_column: str) -> Schema:
    """Return the columns of a JSON schema; the column of the partitions is required.

    Raises:
        SchemaError: it is no object with properties, or has what Iceberg has no type for.
    """
    try:
        found = json.loads(definition)
        return Schema(*_map_fields(found, "", count(1), 1, frozenset([partition_column])))
    except (ValueError, AttributeError, KeyError, TypeError) as error:
        raise SchemaError(f"the schema cannot be read: {error!r}") from error


def _map_fields(
    node: dict[str, Any], path: str, ids: Iterator[int], depth: int, more: frozenset[str]
) -> list[NestedField]:
    if "properties" not in node:
        raise SchemaError(f"the schema{path} is no object with properties")
    if depth > _MAX_DEPTH:
        raise SchemaError(f"the schema{path} is nested deeper than {_MAX_DEPTH} levels")
    required = {*node.get("required", []), *more}
    return [
        NestedField(
            next(ids), name, _map(child, f"{path}.{name}", ids, depth), required=name in required
        )
        for name, child in node["properties"].items()
    ]


def _map(node: dict[str, Any], path: str, ids: Iterator[int], depth: int) -> IcebergType:
    kinds = node.get("type", "string" if "enum" in node else None)
    named = [kind for kind in (kinds if isinstance(kinds, list) else [kinds]) if kind != "null"]
    match named:
        case ["object"] if "properties" in node:
            return StructType(*_map_fields(node, path, ids, depth + 1, frozenset()))
        case ["object"] if isinstance(node.get("additionalProperties"), dict):
            key, value = next(ids), next(ids)
            inner = _map(node["additionalProperties"], path, ids, depth + 1)
            return MapType(key, StringType(), value, inner, value_required=False)
        case ["array"]:
            element = next(ids)
            inner = _map(node["items"], path, ids, depth + 1)
            return ListType(element, inner, element_required=False)
        case ["string" | "integer" | "number" | "boolean" as kind]:
            return _map_scalar(kind, node)
    raise SchemaError(f"the schema{path} has a type that Iceberg has no column for: {kinds}")


def _map_scalar(kind: str, node: dict[str, Any]) -> IcebergType:
    match kind:
        case "string":
            encoded = node.get("contentEncoding") == "base64"
            return BinaryType() if encoded else _FORMATS.get(node.get("format", ""), StringType())
        case "integer":
            bounds = [node[name] for name in ("minimum", "maximum") if name in node]
            return IntegerType() if all(bound in INT for bound in bounds) else LongType()
        case "number" if "multipleOf" in node:
            exponent = Decimal(str(node["multipleOf"])).normalize().as_tuple().exponent
            return DecimalType(_DIGITS, max(0, -int(exponent)))
        case "number":
            return DoubleType()
    return BooleanType()
