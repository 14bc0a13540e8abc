"""The JSON text of events: a strict parser, and the way back.

The parser rejects JSON that a record could not hold unchanged. A number with a fraction or an
exponent is a float if a float keeps all its digits: if the shortest decimal that reads back as the
float is the number of the text, trailing zeros and the exponent aside. Otherwise it is a Decimal,
which a record holds where the numbers of its schema are decimals.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import partial
from typing import Any, Final, NoReturn

from penstock.errors import EventError, EventTextError, EventValueError
from penstock.schemas._json import (
    check_depth,
    check_name,
    check_text,
    shown,
    too_deep,
)
from penstock.schemas.names import join_path

# The most characters of a whole number of 38 digits, as the longest decimals have. Python does not
# read more than 4,300 digits.
_LONGEST_INTEGER: Final = len(str(-(10**37)))
# A decimal point and 15 digits, all of which a float keeps (IEEE 754, C's DBL_DIG) unless an
# exponent makes it one of the smallest numbers.
_EXACT_CHARACTERS: Final = 16


def parse_event(text: str | bytes) -> dict[str, Any]:
    """Parse one JSON object; every value must be one that a record can hold unchanged.

    Raises:
        EventTextError: not UTF-8, not JSON, not an object, or a key that occurs twice.
        EventValueError: a number or text that no schema here can carry, or an empty name.
        EventLimitError: nested too deeply.
    """
    event = _load(text)
    _check(event, "", 1)
    if not isinstance(event, dict):
        raise EventTextError(f"found {shown(event)}, expected a JSON object")
    return event


def scan_value(text: str, at: int) -> tuple[Any, int]:
    """Return the value of a text that begins at an offset, and the offset after it.

    A value that no record can hold unchanged is an EventError instead, whose path begins there.

    Raises:
        JSONDecodeError: the text there is not JSON.
        RecursionError: it is nested too deeply to be read.
    """
    value, end = _STRICT.raw_decode(text, at)
    try:
        _check(value, "", 1)
    except EventError as error:
        return error.with_traceback(None), end
    return value, end


def write_value(
    value: Any,
    *,
    allow_nan: bool = False,
    ensure_ascii: bool = True,
    separators: tuple[str, str] = (", ", ": "),
) -> str:
    """Return a value as JSON text, from which `scan_value` reads the same value.

    Raises:
        ValueError: the value holds a NaN or an infinity, and `allow_nan` is false.
        RecursionError: it is nested too deeply.
    """
    write = partial(
        json.dumps, allow_nan=allow_nan, ensure_ascii=ensure_ascii, separators=separators
    )
    try:
        return write(value)
    except TypeError:  # a Decimal, for which json.dumps has no text
        return _write_value(value, write)


def read_number(digits: str) -> float | Decimal:
    """Return a JSON number with a fraction or an exponent: a float if it keeps all digits.

    Raises:
        ValueError: the number is beyond the range of a float.
    """
    value = float(digits)
    if len(digits) <= _EXACT_CHARACTERS and "e" not in digits and "E" not in digits:
        return value
    if repr(value) == digits:
        return value
    if math.isinf(value):
        raise ValueError(digits)
    try:
        number = Decimal(digits)
    except InvalidOperation:  # an exponent of many digits
        raise ValueError(digits) from None
    return value if number == Decimal(repr(value)) else number


def _write_value(value: Any, write: Callable[[Any], str]) -> str:
    if isinstance(value, dict):
        members = (f"{write(key)}: {_write_value(each, write)}" for key, each in value.items())
        return f"{{{', '.join(members)}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_write_value(each, write) for each in value)}]"
    return str(value) if isinstance(value, Decimal) else write(value)


def _load(text: str | bytes) -> Any:
    try:
        text = text if isinstance(text, str) else text.decode()
        if text.startswith("\ufeff"):
            raise json.JSONDecodeError("Unexpected UTF-8 BOM (decode using utf-8-sig)", text, 0)
        return _STRICT.decode(text)
    except UnicodeDecodeError as error:
        raise EventTextError(
            f"found bytes that are not UTF-8 at position {error.start}, expected JSON text"
        ) from error
    except json.JSONDecodeError as error:
        raise EventTextError(f"found text that is not JSON, expected an object: {error}") from error
    except RecursionError as error:
        raise too_deep("") from error


@dataclass(frozen=True, slots=True)
class _Refused:
    """Replaces a rejected value until its path is known; the JSON parser does not know it."""

    error: type[EventTextError | EventValueError]
    found: str
    key: str | None = None

    def refuse(self, path: str) -> NoReturn:
        path = path if self.key is None else join_path(path, self.key)
        where = f"{path}: " if path else ""
        raise self.error(f"{where}found {self.found}", path=path)


def _read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any] | _Refused:
    event = dict(pairs)
    if len(event) == len(pairs):
        return event
    twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
    return _Refused(EventTextError, "the key twice in one object, expected it once", twice)


def _read_integer(digits: str) -> int | _Refused:
    if len(digits) <= _LONGEST_INTEGER:
        return int(digits)
    found = f"a whole number of {len(digits.lstrip('-'))} digits, expected one within 64 bits"
    return _Refused(EventValueError, found)


def _read_float(digits: str) -> float | Decimal | _Refused:
    try:
        return read_number(digits)
    except ValueError:
        shown = digits if len(digits) <= _SHOWN else f"{digits[:_SHOWN]}..."
        expected = "expected a number within the range of a double"
        return _Refused(EventValueError, f"{shown}, {expected}")


_STRICT: Final = json.JSONDecoder(
    object_pairs_hook=_read_object,
    parse_int=_read_integer,
    parse_float=_read_float,
    parse_constant=lambda name: _Refused(EventTextError, f"{name}, expected a number"),
)
_SHOWN: Final = 40


def _check(value: Any, path: str, depth: int) -> None:
    if isinstance(value, _Refused):
        value.refuse(path)
    if isinstance(value, dict):
        check_depth(depth, path)
        for key, member in value.items():
            inside = join_path(path, key)
            check_name(key, path)
            check_text(key, inside)
            _check(member, inside, depth + 1)
    elif isinstance(value, list):
        check_depth(depth, path)
        for item in value:
            _check(item, f"{path}[]", depth + 1)
    elif isinstance(value, str):
        check_text(value, path)
