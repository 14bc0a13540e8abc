"""The conversion of default values from a schema's JSON to the values that a reader fills in."""

from __future__ import annotations

import math
import struct
from typing import Any, Final

from penstock.errors import InvalidSchemaError, SchemaLimitError
from penstock.schemas._errors import show
from penstock.schemas._types import AvroType, holds
from penstock.schemas.logical import decimal_of, find_limit, read_decimal

# Each value of a default is tried against the branches of its union. A definition of 170,000
# characters can cause 12 million tries, which take 18 s.
_MAX_TRIES: Final = 200_000


class _MismatchError(ValueError):
    """The default is not a value of the type."""


_MISMATCHES: Final = (_MismatchError, UnicodeEncodeError, ArithmeticError)


class DefaultReader:
    """Converts the defaults of one schema from JSON; the total work is bounded.

    Records become events if `events` is true: with JSON names and without null fields.

    A default for `writing` must be within the limit of its logical type, and has the name of its
    union's branch before it, as an event's values have. Readers take a schema without that: its
    records are written already, and seldom lack the field.
    """

    def __init__(self, *, events: bool = False, writing: bool = False) -> None:
        self._tries = 0
        self._events = events
        self._writing = writing

    def read(self, type_: AvroType, default: Any, path: str) -> Any:
        """Convert a default; raise InvalidSchemaError if its type cannot hold it."""
        try:
            return self._convert(type_, default)
        except _MISMATCHES:
            raise InvalidSchemaError(
                f"{path}: found default {show(default)}, expected a value of {type_.label()}"
            ) from None

    def _convert(self, type_: AvroType, default: Any) -> Any:  # noqa: PLR0911 - each kind
        self._tries += 1
        if self._tries > _MAX_TRIES:
            raise SchemaLimitError(
                f"the defaults of the schema take more than {_MAX_TRIES:,} tries of a type for a "
                "value, expected fewer values or smaller unions"
            )
        match type_.kind, default:
            case "union", _:
                return self._convert_branch(type_, default)
            case ("null", None) | ("boolean", bool()):
                return default
            case ("int" | "long" | "float" | "double") as kind, int() | float():
                return self._check_limit(type_, _convert_number(kind, default))
            case "string", str():
                default.encode()
                return default
            case "enum", str() if default in type_.symbols:
                return default
            case "bytes", str():
                return self._convert_bytes(type_, default)
            case "fixed", str() if len(default) == type_.size:
                return self._convert_bytes(type_, default)
            case "array", list() if type_.item:
                return [self._convert(type_.item, value) for value in default]
            case "map", dict() if type_.item:
                return {key: self._convert(type_.item, value) for key, value in default.items()}
            case "record", dict():
                return self._convert_record(type_, default)
        raise _MismatchError

    def _convert_bytes(self, type_: AvroType, default: str) -> Any:
        decimal = decimal_of(type_) if self._events else None
        value = self._check_limit(type_, default.encode("latin-1"))
        return read_decimal(value, decimal[1]) if decimal else value

    def _check_limit(self, type_: AvroType, value: Any) -> Any:
        limit = find_limit(type_) if self._writing else None
        if limit and not limit.holds(value):
            raise _MismatchError
        return value

    def _convert_branch(self, union: AvroType, default: Any) -> Any:
        """Use the first branch that holds the default; Avro 1.11 allowed only the first branch."""
        for branch in union.branches:
            try:
                value = self._convert(branch, default)
            except _MISMATCHES:
                continue
            is_named = self._writing and branch.kind != "null"
            return (branch.name or branch.kind, value) if is_named else value
        raise _MismatchError

    def _convert_record(self, record: AvroType, default: dict[str, Any]) -> dict[str, Any]:
        value = {}
        for field in record.fields:
            if field.name not in default and "default" not in field.attributes:
                raise _MismatchError
            own = default[field.name] if field.name in default else field.attributes["default"]
            converted = self._convert(field.type, own)
            if not self._events:
                value[field.name] = converted
            elif converted is not None:
                value[field.json_name] = converted
        return value


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
