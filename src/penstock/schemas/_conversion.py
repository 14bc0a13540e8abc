"""The conversion of a JSON value to the value that the Avro encoder takes.

A value that would change, such as a number that would be rounded, is rejected.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Any

from penstock.errors import EventError, EventValueError
from penstock.schemas._json import (
    MAX_DEPTH,
    join_path,
    refused,
    scalar_kind,
)
from penstock.schemas._types import INTEGER_LIMITS, AvroField, AvroType, holds


def convert(value: Any, type_: AvroType, path: str) -> Any:
    """Convert a JSON value to a value of the type, or raise EventValueError."""
    if type_.kind == "union":
        return _convert_branch(value, type_, path)
    if type_.kind in _CONTAINERS:
        python_type, container = _CONTAINERS[type_.kind]
        if isinstance(value, python_type):
            return container(value, type_, path)
    elif type_.kind == "null":
        if value is None:
            return None
    elif type_.kind not in {"bytes", "fixed"} and not isinstance(value, _NO_SCALARS):
        return _convert_scalar(value, type_, path)
    raise refused(value, type_.label(), path)


def _convert_branch(value: Any, union: AvroType, path: str) -> Any:
    if value is None and union.nullable:
        return None
    branches = [branch for branch in union.branches if branch.kind != "null"]
    if len(branches) == 1:
        return convert(value, branches[0], path)
    for branch in branches:
        try:
            return convert(value, branch, path)
        except EventError:
            continue
    raise refused(value, union.label(), path)


def _convert_record(event: Mapping[str, Any], type_: AvroType, path: str) -> dict[str, Any]:
    record = {
        field.name: _convert_field(event, field, join_path(path, field.json_name))
        for field in type_.fields
    }
    names = {field.json_name for field in type_.fields}
    for key, value in event.items():
        if key not in names and not _says_nothing(value):
            raise refused(value, f"no such field in {type_.label()}", join_path(path, key))
    return record


def _convert_field(event: Mapping[str, Any], field: AvroField, path: str) -> Any:
    if field.json_name in event:
        return convert(event[field.json_name], field.type, path)
    if field.type.nullable or field.type.kind == "null":
        return None
    raise EventValueError(
        f"{path}: found no value, expected {field.type.label()}, which every event must have",
        path=path,
    )


def _convert_array(items: list[Any], type_: AvroType, path: str) -> list[Any]:
    (item_type,) = type_.children()
    return [convert(item, item_type, f"{path}[]") for item in items]


def _convert_map(members: Mapping[str, Any], type_: AvroType, path: str) -> dict[str, Any]:
    (item_type,) = type_.children()
    return {key: convert(value, item_type, join_path(path, key)) for key, value in members.items()}


_CONTAINERS: dict[str, tuple[type, Callable[[Any, AvroType, str], Any]]] = {
    "record": (Mapping, _convert_record),
    "array": (list, _convert_array),
    "map": (Mapping, _convert_map),
}


_NO_SCALARS = (type(None), list, Mapping)


def _convert_scalar(value: Any, type_: AvroType, path: str) -> Any:
    found = scalar_kind(value, path)
    if type_.kind in {"float", "double"} and found in {"long", "double"}:
        return _convert_float(value, type_, path)
    if type_.kind == "enum":
        fits = value in type_.symbols
    elif type_.kind == "int":
        fits = found == "long" and holds("int", value)
    else:
        fits = found == type_.kind
    if not fits:
        raise refused(value, type_.label(), path)
    return value


def _convert_float(value: float, type_: AvroType, path: str) -> float:
    if isinstance(value, int) and not holds(type_.kind, value):
        bits = INTEGER_LIMITS[type_.kind][1].bit_length() - 1
        expected = f"at most 2^{bits} in size, beyond which a {type_.kind} rounds"
        raise refused(value, expected, path)
    if type_.kind == "float" and not _is_single(value):
        raise refused(value, "a number that a float holds without rounding", path)
    return float(value)


def _is_single(value: float) -> bool:
    try:
        return bool(struct.unpack("f", struct.pack("f", value))[0] == value)
    except OverflowError:
        return False


def _says_nothing(value: Any, depth: int = 1) -> bool:
    """Return whether a value is null, or an object or list that holds only such values."""
    if value is None:
        return True
    if depth > MAX_DEPTH or not isinstance(value, Mapping | list):
        return False
    members = value.values() if isinstance(value, Mapping) else value
    return all(_says_nothing(member, depth + 1) for member in members)
