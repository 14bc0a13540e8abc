"""Records as rows of an Iceberg table.

Fields that the schema lacks are dropped, a missing optional one is null, and a record that lacks a
required one, or has another type, fails.
"""

from __future__ import annotations

import base64
import datetime as dt
import json
import uuid
from decimal import Decimal, InvalidOperation
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
    StructType,
    TimestamptzType,
    TimeType,
    UUIDType,
)

from localcloud.services.kafka.channels.columns import INT

_BOUNDS = {IntegerType: INT, LongType: range(-(2**63), 2**63)}


class RowError(Exception):
    """A record that does not conform to the schema; `code` says how."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def read_row(value: bytes | None, schema: Schema) -> dict[str, Any]:
    """Return a record as a row.

    Raises:
        RowError: it is not JSON, or does not conform to the schema.
    """
    found = parse_json(value)
    row: dict[str, Any] = _convert(found, schema.as_struct(), "value")
    if row is None:
        raise RowError("TypeMismatch", "value is null, expected an object")
    return row


def parse_json(value: bytes | None) -> Any:
    """Return the JSON of a value; raise RowError if it is none."""
    try:
        return json.loads(value or b"")
    except ValueError as error:
        raise RowError("MalformedRecord", f"the value is not JSON: {error}") from error


def _convert(value: Any, kind: IcebergType, path: str) -> Any:
    """Return a value as Arrow takes it for a type."""
    if value is None:
        return None
    try:
        return _convert_present(value, kind, path)
    except (ValueError, TypeError, InvalidOperation) as error:
        shown = json.dumps(value)[:80]
        raise RowError("TypeMismatch", f"{path} is {shown}, expected {kind}") from error


def _convert_present(value: Any, kind: IcebergType, path: str) -> Any:
    match kind:
        case StructType():
            return _convert_struct(_expect(value, dict), kind, path)
        case MapType():
            pairs = _expect(value, dict).items()
            return [(key, _convert(each, kind.value_type, f"{path}.{key}")) for key, each in pairs]
        case ListType():
            return [_convert(each, kind.element_type, path) for each in _expect(value, list)]
    return _convert_scalar(value, kind)


def _convert_scalar(value: Any, kind: IcebergType) -> Any:
    match kind:
        case BooleanType():
            return _expect(value, bool)
        case IntegerType() | LongType():
            if isinstance(value, bool) or _expect(value, int) not in _BOUNDS[type(kind)]:
                raise ValueError
            return value
        case DoubleType():
            return float(_expect_number(value))
        case DecimalType():
            exact = Decimal(str(_expect_number(value))).quantize(Decimal(1).scaleb(-kind.scale))
            if exact != Decimal(str(value)):
                raise ValueError
            return exact
    return _convert_text(_expect(value, str), kind)


def _convert_struct(value: dict[str, Any], kind: StructType, path: str) -> dict[str, Any]:
    for field in kind.fields:
        if field.required and value.get(field.name) is None:
            raise RowError("MissingRequiredField", f"{path} lacks the required {field.name}")
    return {
        field.name: _convert(value.get(field.name), field.field_type, f"{path}.{field.name}")
        for field in kind.fields
    }


def _convert_text(value: str, kind: IcebergType) -> Any:
    match kind:
        case TimestamptzType():
            at = dt.datetime.fromisoformat(value)
            if at.tzinfo is None:
                raise ValueError
            return at.astimezone(dt.UTC)
        case DateType():
            return dt.date.fromisoformat(value)
        case TimeType():
            return dt.time.fromisoformat(value)
        case UUIDType():
            return uuid.UUID(value).bytes
        case BinaryType():
            return base64.b64decode(value, validate=True)
    return value


def _expect(value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise TypeError
    return value


def _expect_number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError
    return value
