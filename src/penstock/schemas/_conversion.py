"""The conversion of a JSON value to the value that the Avro encoder takes.

A value that would change, such as a number that would be rounded, is rejected. The values of the
record are counted before they are made, as the decoder counts them: an item of a list has every
field that any other item has, so a short event can become a large record.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from penstock.errors import EventValueError
from penstock.schemas._json import (
    MAX_DEPTH,
    MAX_VALUES,
    join_path,
    refused,
    scalar_kind,
    too_many,
)
from penstock.schemas._types import INTEGER_LIMITS, AvroField, AvroType, holds


def convert(value: Any, type_: AvroType, path: str) -> Any:
    """Convert a JSON value to a value of the type.

    Raises:
        EventValueError: the type does not hold the value.
        EventLimitError: the converted value has too many values.
    """
    return _Conversion().convert(value, type_, path)


@dataclass(frozen=True, slots=True)
class _Plan:
    """The fields of a record by JSON name, those without a null, and a record of nulls."""

    fields: dict[str, AvroField]
    required: list[AvroField]
    blank: dict[str, None]

    @classmethod
    def of(cls, record: AvroType) -> Self:
        nulls = [field.type.nullable or field.type.kind == "null" for field in record.fields]
        return cls(
            {field.json_name: field for field in record.fields},
            [field for field, null in zip(record.fields, nulls, strict=True) if not null],
            dict.fromkeys(field.name for field in record.fields),
        )


class _Conversion:
    """The conversion of one value, and the number of values that it may still become."""

    def __init__(self) -> None:
        self._left = MAX_VALUES
        self._plans: dict[int, _Plan] = {}

    def convert(self, value: Any, type_: AvroType, path: str) -> Any:
        match type_.kind:
            case "union":
                return self._convert_branch(value, type_, path)
            case "record" if isinstance(value, Mapping):
                return self._convert_record(value, type_, path)
            case "array" if isinstance(value, list) and type_.item:
                return self._convert_array(value, type_.item, path)
            case "map" if isinstance(value, Mapping) and type_.item:
                return self._convert_map(value, type_.item, path)
            case "null" if value is None:
                return None
        if type_.kind in _NOT_IN_JSON or isinstance(value, _NO_SCALARS):
            raise refused(value, type_.label(), path)
        return _convert_scalar(value, type_, path)

    def _spend(self, values: int, path: str) -> None:
        self._left -= values
        if self._left < 0:
            raise too_many(path)

    def _convert_branch(self, value: Any, union: AvroType, path: str) -> Any:
        if value is None and union.nullable:
            return None
        branches = [branch for branch in union.branches if branch.kind != "null"]
        if len(branches) == 1:
            return self.convert(value, branches[0], path)
        for branch in branches:
            try:
                converted = self.convert(value, branch, path)
            except EventValueError:
                continue
            # The encoder sees no JSON names, so it could find another branch for an object.
            is_object = isinstance(value, Mapping)
            return (branch.name or branch.kind, converted) if is_object else converted
        raise refused(value, union.label(), path)

    def _convert_record(self, event: Mapping[str, Any], type_: AvroType, path: str) -> Any:
        self._spend(len(type_.fields), path)
        if id(type_) not in self._plans:
            self._plans[id(type_)] = _Plan.of(type_)
        plan = self._plans[id(type_)]
        record = plan.blank.copy()
        for key, value in event.items():
            field = plan.fields.get(key)
            if field is not None:
                record[field.name] = self.convert(value, field.type, join_path(path, key))
            elif not _says_nothing(value):
                raise refused(value, f"no such field in {type_.label()}", join_path(path, key))
        for field in plan.required:
            if field.json_name not in event:
                raise _missing(field, join_path(path, field.json_name))
        return record

    def _convert_array(self, items: list[Any], type_: AvroType, path: str) -> list[Any]:
        self._spend(len(items), path)
        return [self.convert(item, type_, f"{path}[]") for item in items]

    def _convert_map(self, members: Mapping[str, Any], type_: AvroType, path: str) -> Any:
        self._spend(2 * len(members), path)
        return {
            key: self.convert(value, type_, join_path(path, key)) for key, value in members.items()
        }


_NOT_IN_JSON = {"record", "array", "map", "null", "bytes", "fixed"}
_NO_SCALARS = (type(None), list, Mapping)


def _missing(field: AvroField, path: str) -> EventValueError:
    return EventValueError(
        f"{path}: found no value, expected {field.type.label()}, which every event must have",
        path=path,
    )


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
