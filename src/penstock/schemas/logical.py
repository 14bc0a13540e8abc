"""Logical types: decimals as numbers, and values with limits of their own.

A value beyond its limits is not of its type, for writers and readers alike:

| logical type                             | limit                                                 |
| ---------------------------------------- | ----------------------------------------------------- |
| decimal, of up to 38 digits              | its precision                                         |
| timestamp-millis, local-timestamp-millis | 64 bits in microseconds: 292,277 years around 1970    |

A decimal of an event is a number, and bytes in a record; other values stay what they are in bytes.
Other logical types have no limits, and one that is not valid is ignored, as Avro says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Context, Decimal, Inexact, InvalidOperation
from enum import StrEnum
from typing import Any, Final

from penstock.errors import UndecodablePayloadError
from penstock.schemas._errors import LocatedError
from penstock.schemas._readers import Payload, Reader
from penstock.schemas._types import AvroType

_MOST_DIGITS: Final = 38  # of the decimals of Spark, Iceberg and DynamoDB
_MOST_BYTES: Final = 17  # hold all of them
_MILLIS: Final = ("timestamp-millis", "local-timestamp-millis")
_MOST_MILLIS: Final = (2**63 - 1) // 1_000
_EXACT: Final = Context(prec=_MOST_DIGITS, traps=[Inexact, InvalidOperation])


class Numbers(StrEnum):
    """The type of the numbers of events.

    DOUBLE: long, or double with a fraction or an exponent; a number that neither holds is refused.
    DECIMAL: decimal(38, 18), a number with 20 digits before the point and 18 after it. The scale
    is Spark's own default and never changes: no reader resolves one scale to another.
    """

    DOUBLE = "double"
    DECIMAL = "decimal"


DECIMAL: Final = AvroType(
    "bytes",
    attributes={"logicalType": "decimal", "precision": _MOST_DIGITS, "scale": 18},
)


def find_decimal(type_: Mapping[str, Any], size: int | None) -> tuple[int, int] | None:
    """Return the precision and scale of a valid decimal; None if Avro ignores the logical type.

    `type_` has the attributes of a type, which is bytes, or fixed with a size.
    """
    precision, scale = type_.get("precision", 0), type_.get("scale", 0)
    if type_.get("logicalType") != "decimal" or type(precision) is not int:
        return None
    if type(scale) is not int or not 0 <= scale <= precision:
        return None
    size = _MOST_BYTES if size is None else min(size, _MOST_BYTES)
    most = len(str(256**size // 2)) - 1
    return (precision, scale) if 1 <= precision <= min(most, _MOST_DIGITS) else None


def decimal_of(type_: AvroType) -> tuple[int, int] | None:
    """Return the precision and scale of a type that is a decimal, or None."""
    if type_.kind not in {"bytes", "fixed"} or not type_.attributes:
        return None
    return find_decimal(type_.attributes, type_.size if type_.kind == "fixed" else None)


def write_decimal(number: float | Decimal, precision: int, scale: int) -> int | None:
    """Return the unscaled number of a decimal, or None if it does not hold all digits."""
    exact = Decimal(repr(number)) if isinstance(number, float) else Decimal(number)
    try:
        scaled = exact.quantize(Decimal((0, (1,), -scale)), context=_EXACT)
    except (Inexact, InvalidOperation):
        return None
    unscaled = int(scaled.scaleb(scale, context=_EXACT))
    return unscaled if abs(unscaled) < 10**precision else None


@dataclass(frozen=True, slots=True)
class Limit:
    """The limit of a logical type: whether it holds a value, and the two halves of a refusal."""

    holds: Callable[[Any], bool]
    show: Callable[[Any], str]
    expected: str


def find_limit(type_: AvroType) -> Limit | None:
    """Return the limit that a type's logical type gives to its values, or None."""
    if not type_.attributes:
        return None
    if type_.kind == "long" and type_.attributes.get("logicalType") in _MILLIS:
        return _LIMIT_OF_MILLIS
    decimal = decimal_of(type_)
    return _limit_digits(decimal[0]) if decimal else None


def check_logical(read: Reader, type_: AvroType, *, events: bool) -> Reader:
    """Return a reader that refuses values beyond the limit of a type's logical type.

    For `events` it returns a decimal as a number.
    """
    limit = find_limit(type_)
    if limit is None:
        return read
    checked, decimal = _check(read, limit), decimal_of(type_)
    return _read_decimal(checked, decimal[1]) if decimal and events else checked


def read_decimal(unscaled: bytes, scale: int) -> Decimal:
    """Return a decimal as a number, without zeros at the end of its fraction."""
    number = Decimal(int.from_bytes(unscaled, signed=True)).scaleb(-scale, context=_EXACT)
    shortest = number.normalize(_EXACT)
    is_whole = shortest == shortest.to_integral_value(context=_EXACT)
    return shortest.quantize(Decimal(1), context=_EXACT) if is_whole else shortest


def _read_decimal(read: Reader, scale: int) -> Reader:
    def read_number(data: Payload, at: int) -> tuple[Decimal, int]:
        value, end = read(data, at)
        return read_decimal(value, scale), end

    return read_number


def _check(read: Reader, limit: Limit) -> Reader:
    holds = limit.holds

    def read_checked(data: Payload, at: int) -> tuple[Any, int]:
        value, end = read(data, at)
        if not holds(value):
            raise LocatedError(
                UndecodablePayloadError,
                f"found {limit.show(value)} at byte {at}, expected {limit.expected}",
            )
        return value, end

    return read_checked


def _limit_digits(precision: int) -> Limit:
    most = 10**precision
    return Limit(
        lambda value: bool(value) and -most < int.from_bytes(value, signed=True) < most,
        lambda value: f"a decimal in {len(value):,} bytes",
        f"up to {precision} digits",
    )


_LIMIT_OF_MILLIS: Final = Limit(
    lambda value: -_MOST_MILLIS <= value <= _MOST_MILLIS,
    lambda value: f"{value} milliseconds",
    f"-{_MOST_MILLIS} to {_MOST_MILLIS}, which are microseconds of 64 bits",
)
