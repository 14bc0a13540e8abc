"""Logical types whose values have limits of their own; a value beyond them is not of its type.

| logical type                             | limit                                                 |
| ---------------------------------------- | ----------------------------------------------------- |
| decimal, of up to 38 digits              | its precision                                         |
| timestamp-millis, local-timestamp-millis | 64 bits in microseconds: 292,277 years around 1970    |

Values stay what they are in bytes, so that nothing is rounded. Other logical types have no limits,
and one that is not valid is ignored, as Avro says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from penstock.errors import UndecodablePayloadError
from penstock.schemas._errors import LocatedError
from penstock.schemas._readers import Payload, Reader
from penstock.schemas._types import AvroType

_MOST_DIGITS: Final = 38  # of the decimals of Spark, Iceberg and DynamoDB
_MILLIS: Final = ("timestamp-millis", "local-timestamp-millis")
_MOST_MILLIS: Final = (2**63 - 1) // 1_000


def find_decimal(type_: Mapping[str, Any], size: int | None) -> tuple[int, int] | None:
    """Return the precision and scale of a valid decimal; None if Avro ignores the logical type.

    `type_` has the attributes of a type, which is bytes, or fixed with a size.
    """
    precision, scale = type_.get("precision", 0), type_.get("scale", 0)
    if type_.get("logicalType") != "decimal" or type(precision) is not int:
        return None
    if type(scale) is not int or not 0 <= scale <= precision:
        return None
    most = len(str(2 ** (8 * size - 1) - 1)) - 1 if size is not None else _MOST_DIGITS
    return (precision, scale) if 1 <= precision <= min(most, _MOST_DIGITS) else None


def check_logical(read: Reader, type_: AvroType) -> Reader:
    """Return a reader that refuses values beyond the limits of a type's logical type."""
    if type_.kind == "long" and type_.attributes.get("logicalType") in _MILLIS:
        return _check_millis(read)
    if type_.kind in {"bytes", "fixed"}:
        size = type_.size if type_.kind == "fixed" else None
        if decimal := find_decimal(type_.attributes, size):
            return _check_decimal(read, decimal[0])
    return read


def _check_millis(read: Reader) -> Reader:
    def read_millis(data: Payload, at: int) -> tuple[int, int]:
        value, end = read(data, at)
        if not -_MOST_MILLIS <= value <= _MOST_MILLIS:
            raise LocatedError(
                UndecodablePayloadError,
                f"found {value} milliseconds at byte {at}, expected -{_MOST_MILLIS} to"
                f" {_MOST_MILLIS}, which are microseconds of 64 bits",
            )
        return value, end

    return read_millis


def _check_decimal(read: Reader, precision: int) -> Reader:
    most = 10**precision

    def read_decimal(data: Payload, at: int) -> tuple[bytes, int]:
        value, end = read(data, at)
        if not value or not -most < int.from_bytes(value, signed=True) < most:
            raise LocatedError(
                UndecodablePayloadError,
                f"found a decimal in {len(value):,} bytes at byte {at}, expected up to {precision}"
                " digits",
            )
        return value, end

    return read_decimal
