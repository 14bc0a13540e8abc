"""Items in DynamoDB's JSON: `{"id":{"S":"000001"},"temperature":{"N":"30"}}`.

botocore needs seven times the CPU: it validates every value against its model of the service,
then visits each value again to write it.
"""

from __future__ import annotations

import math
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from decimal import (
    Clamped,
    Context,
    Decimal,
    DecimalException,
    Inexact,
    InvalidOperation,
    Overflow,
    Rounded,
    Subnormal,
    Underflow,
)
from json.encoder import encode_basestring
from typing import Any

from penstock.errors import RowTooLargeError, SinkRefusedError

# An item has at most 400 KB. As JSON it is at most 16 times as long: a power of ten in a list takes
# 3 bytes, and up to 47 characters. A value is written only as far as that: a record of 10 KB may
# inflate to text of 8 MiB, which takes 24 times its length while it is written.
_MAX_BYTES = 400 * 1024
_MAX_CHARACTERS = 16 * _MAX_BYTES
_MAX_DIGITS = 38
_LEAST, _BEYOND = 1e-130, 1e126
_BEYOND_INTEGERS = 10**_MAX_DIGITS
_CONTEXT = Context(
    prec=_MAX_DIGITS,
    Emin=-130,
    Emax=125,
    traps=[Clamped, Inexact, InvalidOperation, Overflow, Rounded, Subnormal, Underflow],
)


class _UnfitError(ValueError):
    """A value that DynamoDB cannot hold; the caller adds the attribute's name."""


def write_item(item: Mapping[str, Any]) -> bytes:
    """Return an item as JSON; values are str, bytes, int, float, Decimal, bool, None, list or dict.

    A float is written as the shortest decimal that reads back as the same float. DynamoDB knows no
    negative zero: -0.0 is written as the 0 that it returns, which equals it.

    Raises:
        SinkRefusedError: a number that DynamoDB cannot hold exactly, or half of a surrogate pair.
        RowTooLargeError: no item of 400 KB is so long as JSON.
    """
    written = []
    left = _MAX_CHARACTERS
    for name, value in item.items():
        try:
            part = f"{encode_basestring(name)}:{_WRITERS[type(value)](value)}"
        except _UnfitError as error:
            raise SinkRefusedError(f"{name:.200}: {error}") from None
        written.append(part)
        left -= len(part)
        if left < 0:
            raise _too_long()
    try:
        return f"{{{','.join(written)}}}".encode()
    except UnicodeEncodeError as error:
        raise SinkRefusedError(f"found text that is not Unicode: {error}") from None


def read_item(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return an item of a response as plain values, which `write_item` takes.

    A number is an int, or a Decimal if it has a fraction or more than 38 digits, as doubles may.
    """
    return {name: _read_value(value) for name, value in item.items()}


def name_type(value: Mapping[str, Any]) -> str:
    """Return the name of the type of a value in DynamoDB's JSON: string for S, but SS for a set."""
    ((descriptor, _),) = value.items()
    return _TYPE_NAMES.get(descriptor, descriptor)


def _read_value(value: Mapping[str, Any]) -> Any:
    ((kind, inside),) = value.items()
    return _READERS[kind](inside)


def _read_number(number: Decimal) -> int | Decimal:
    is_short = -_BEYOND_INTEGERS < number < _BEYOND_INTEGERS
    return int(number) if is_short and number == number.to_integral_value() else number


def _too_large(found: str) -> RowTooLargeError:
    return RowTooLargeError(f"found {found}, expected an item of at most 400 KB")


def _too_long() -> RowTooLargeError:
    return _too_large(f"a row of more than {_MAX_CHARACTERS:,} characters of JSON")


def _write_text(value: str) -> str:
    if len(value) > _MAX_BYTES:  # UTF-8 is never shorter
        raise _too_large(f"text of {len(value):,} characters")
    return f'{{"S":{encode_basestring(value)}}}'


def _write_int(value: int) -> str:
    if not -_BEYOND_INTEGERS < value < _BEYOND_INTEGERS:
        raise _UnfitError(
            f"found an integer beyond {_MAX_DIGITS} digits, expected at most {_MAX_DIGITS}"
        )
    return f'{{"N":"{value}"}}'


def _write_float(value: float) -> str:
    if value and not _LEAST <= abs(value) < _BEYOND:
        found = "NaN" if math.isnan(value) else f"{value!r}"
        raise _UnfitError(f"found {found}, expected 0 or a size of 1e-130 to 9.99e+125")
    return f'{{"N":"{value or 0.0!r}"}}'


def _write_decimal(value: Decimal) -> str:
    try:
        exact = _CONTEXT.create_decimal(value)
    except DecimalException:
        exact = Decimal("NaN")
    if not exact.is_finite():
        raise _UnfitError(
            f"found {value}, expected at most {_MAX_DIGITS} digits and a size of "
            "1e-130 to 9.99e+125"
        )
    return f'{{"N":"{exact or exact.copy_abs()}"}}'


def _write_bytes(value: bytes) -> str:
    if len(value) > _MAX_BYTES:
        raise _too_large(f"{len(value):,} bytes")
    return f'{{"B":"{b64encode(value).decode()}"}}'


def _write_list(value: list[Any]) -> str:
    written = []
    left = _MAX_CHARACTERS
    for item in value:
        part = _WRITERS[type(item)](item)
        written.append(part)
        left -= len(part)
        if left < 0:
            raise _too_long()
    return f'{{"L":[{",".join(written)}]}}'


def _write_map(value: dict[str, Any]) -> str:
    written = []
    left = _MAX_CHARACTERS
    for name, item in value.items():
        if len(name) > _MAX_BYTES:
            raise _too_large(f"a name of {len(name):,} characters")
        part = f"{encode_basestring(name)}:{_WRITERS[type(item)](item)}"
        written.append(part)
        left -= len(part)
        if left < 0:
            raise _too_long()
    return f'{{"M":{{{",".join(written)}}}}}'


# By exact type, because isinstance takes a bool for an int.
_WRITERS: dict[type, Callable[[Any], str]] = {
    str: _write_text,
    int: _write_int,
    float: _write_float,
    bool: lambda value: '{"BOOL":true}' if value else '{"BOOL":false}',
    type(None): lambda value: '{"NULL":true}',
    Decimal: _write_decimal,
    dict: _write_map,
    list: _write_list,
    bytes: _write_bytes,
}
_READERS: dict[str, Callable[[Any], Any]] = {
    "S": str,
    "N": lambda text: _read_number(Decimal(text)),
    "BOOL": bool,
    "NULL": lambda _: None,
    "M": read_item,
    "L": lambda items: [_read_value(item) for item in items],
    "B": b64decode,
}
_TYPE_NAMES = {
    "S": "string",
    "N": "number",
    "BOOL": "boolean",
    "B": "binary",
    "L": "list",
    "M": "map",
}
