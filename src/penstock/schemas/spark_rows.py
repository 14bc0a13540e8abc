"""The conversion of rows that Spark decoded to events, the same that our own codec decodes.

Spark interprets logical types and turns a union into a struct. Our codec does neither;
docs/adr/20261121-bounded-avro-decoding.md says why.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final, TypeAlias

from penstock.schemas._types import AvroType, resolve
from penstock.schemas.definition import Schema

_Convert: TypeAlias = Callable[[Any], Any]

_DAY_ZERO: Final = date(1970, 1, 1)
_TIME_ZERO: Final = datetime(1970, 1, 1)
# The unions that Spark reads as one number instead of a struct of two.
_NUMBERS: Final = ({"int", "long"}, {"float", "double"})


def compile_row_restorer(schema: Schema) -> Callable[[Any], dict[str, Any]]:
    """Return a function that converts rows that Spark read with this schema to events."""
    return _compile(resolve(schema))


def _compile(type_: AvroType) -> _Convert:
    plain = _KINDS[type_.kind](type_) if type_.kind in _KINDS else _as_it_is
    logical = type_.logical[0] if type_.logical else None
    if not isinstance(logical, str) or logical not in _LOGICAL:
        return plain
    class_, find = _LOGICAL[logical]
    convert = find(type_)
    # Avro ignores a logical type that is not defined for the type, so Spark's value is a plain one.
    return lambda value: convert(value) if isinstance(value, class_) else plain(value)


def _as_it_is(value: Any) -> Any:
    return value


def _optional(type_: AvroType) -> _Convert:
    convert = _compile(type_)
    return lambda value: None if value is None else convert(value)


def _compile_record(type_: AvroType) -> _Convert:
    fields = [(field.name, field.json_name, _compile(field.type)) for field in type_.fields]

    def convert(row: Any) -> dict[str, Any]:
        # By name, since a field that can hold no value may have been left out.
        found = row.asDict()
        event = {}
        for name, json_name, value in fields:
            if found.get(name) is not None and (converted := value(found[name])) is not None:
                event[json_name] = converted
        return event

    return convert


def _compile_union(type_: AvroType) -> _Convert:
    branches = [branch for branch in type_.branches if branch.kind != "null"]
    if len(branches) == 1 or {branch.kind for branch in branches} in _NUMBERS:
        return _compile(branches[0])
    members = [_optional(branch) for branch in branches]

    def convert(row: Any) -> Any:
        found = (
            each(value) for each, value in zip(members, row, strict=False) if value is not None
        )
        return next(found, None)

    return convert


def _compile_items(type_: AvroType) -> _Convert:
    if type_.item is None:
        return _as_it_is
    item = _optional(type_.item)
    if type_.kind == "array":
        return lambda values: [item(value) for value in values]
    return lambda values: {key: item(value) for key, value in values.items()}


def _to_microseconds(value: datetime) -> int:
    # In the time zone of this process; `fold` distinguishes the hour that repeats in autumn.
    return int(value.replace(microsecond=0).timestamp()) * 1_000_000 + value.microsecond


def _compile_decimal(type_: AvroType) -> _Convert:
    def convert(value: Decimal) -> bytes:
        sign, digits, _ = value.as_tuple()
        whole = int("".join(map(str, digits))) * (-1 if sign else 1)
        size = type_.size or (whole if whole >= 0 else ~whole).bit_length() // 8 + 1
        return whole.to_bytes(size, "big", signed=True)

    return convert


def _count_units(unit: timedelta) -> Callable[[AvroType], _Convert]:
    return lambda _: lambda value: (value - _TIME_ZERO) // unit


# By logical type: the class of Spark's values, and their conversion.
_LOGICAL: Final[dict[str, tuple[type, Callable[[AvroType], _Convert]]]] = {
    "date": (date, lambda _: lambda value: (value - _DAY_ZERO).days),
    "decimal": (Decimal, _compile_decimal),
    "local-timestamp-micros": (datetime, _count_units(timedelta(microseconds=1))),
    "local-timestamp-millis": (datetime, _count_units(timedelta(milliseconds=1))),
    "timestamp-micros": (datetime, lambda _: _to_microseconds),
    "timestamp-millis": (datetime, lambda _: lambda value: _to_microseconds(value) // 1_000),
}
_KINDS: Final[dict[str, Callable[[AvroType], _Convert]]] = {
    "array": _compile_items,
    "bytes": lambda _: bytes,
    "fixed": lambda _: bytes,
    "map": _compile_items,
    "record": _compile_record,
    "union": _compile_union,
}
