"""Default values: from the JSON of a schema to the value that a reader fills in."""

from __future__ import annotations

import math
import struct
from typing import Any

from penstock.errors import InvalidSchemaError
from penstock.schemas._numbers import holds
from penstock.schemas._shape import show
from penstock.schemas._types import AvroType


class _MismatchError(ValueError):
    """The default is not a value of the type."""


def read_default(type_: AvroType, default: Any, path: str) -> Any:
    """Convert a default from JSON, refusing one that its type cannot hold."""
    try:
        return _convert(type_, default)
    except (_MismatchError, UnicodeEncodeError, OverflowError):
        raise InvalidSchemaError(
            f"{path}: found default {show(default)}, expected a value of {type_.label()}"
        ) from None


def _convert(type_: AvroType, default: Any) -> Any:  # noqa: PLR0911 - a return for each kind
    match type_.kind, default:
        case "union", _:
            return _convert_branch(type_, default)
        case ("null", None) | ("boolean", bool()):
            return default
        case ("int" | "long" | "float" | "double") as kind, int() | float():
            return _convert_number(kind, default)
        case "string", str():
            default.encode()
            return default
        case "enum", str() if default in type_.symbols:
            return default
        case "bytes", str():
            return default.encode("latin-1")
        case "fixed", str() if len(default) == type_.size:
            return default.encode("latin-1")
        case "array", list() if type_.item:
            return [_convert(type_.item, value) for value in default]
        case "map", dict() if type_.item:
            return {key: _convert(type_.item, value) for key, value in default.items()}
        case "record", dict():
            return _convert_record(type_, default)
    raise _MismatchError


def _convert_branch(union: AvroType, default: Any) -> Any:
    """Take the first branch that holds the default (Avro 1.11 allowed only the very first)."""
    for branch in union.branches:
        try:
            return _convert(branch, default)
        except (_MismatchError, UnicodeEncodeError, OverflowError):
            continue
    raise _MismatchError


def _convert_number(kind: str, default: float) -> float:
    if isinstance(default, bool):
        raise _MismatchError
    if isinstance(default, int):
        if not holds(kind, default):
            raise _MismatchError
        return default if kind in {"int", "long"} else float(default)
    if kind in {"int", "long"} or not math.isfinite(default):
        raise _MismatchError
    return default if kind == "double" else struct.unpack("<f", struct.pack("<f", default))[0]


def _convert_record(record: AvroType, default: dict[str, Any]) -> dict[str, Any]:
    value = {}
    for field in record.fields:
        if field.name not in default and "default" not in field.attributes:
            raise _MismatchError
        own = default[field.name] if field.name in default else field.attributes["default"]
        value[field.name] = _convert(field.type, own)
    return value
