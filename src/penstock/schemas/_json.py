"""The names and values of JSON events."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

from penstock.errors import EventLimitError, EventValueError
from penstock.schemas._errors import number_text
from penstock.schemas._types import holds

# Deeper than events written by hand, and well below the depth where Avro decoders overflow.
MAX_DEPTH = 32

# The values of one event: fields and items; a field that is null counts too, in each item of a list
# that could have it. A row of 400 KB holds fewer. As Python objects they take up to 64 MiB.
MAX_VALUES = 500_000

_SHOWN_CHARACTERS = 40
_EXACT_NUMBER = (
    "a number that a double holds with all its digits: send it as text, or set the producer's"
    " numbers to decimal"
)


def shown(value: Any) -> str:
    """Return how a message shows a value: its kind, or its text if it is a scalar, shortened."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        return number_text(value)
    text = repr(value) if isinstance(value, str) else str(value)
    text = text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}..."
    return f"the string {text}" if isinstance(value, str) else text


def refused(value: Any, expected: str, path: str) -> EventValueError:
    """Return the error for an unexpected value at a path."""
    where = f"{path}: " if path else ""
    return EventValueError(f"{where}found {shown(value)}, expected {expected}", path=path)


def check_values(event: Any) -> None:
    """Raise EventLimitError if an event has too many values; counted before any work is done."""
    left, inside = MAX_VALUES, [event]
    while inside:
        value = inside.pop()
        members = value.values() if isinstance(value, dict) else value
        left -= len(members)
        if left < 0:
            raise too_many("")
        inside += [each for each in members if isinstance(each, dict | list)]


def too_many(path: str) -> EventLimitError:
    """Return the error for an event, or its record, with too many values."""
    message = f"found more than {MAX_VALUES:,} values in the event, expected at most that"
    return EventLimitError(f"{path}: {message}" if path else message, path=path)


def check_depth(depth: int, path: str) -> None:
    """Raise EventLimitError if an object or list is nested too deeply."""
    if depth > MAX_DEPTH:
        raise too_deep(path)


def too_deep(path: str) -> EventLimitError:
    """Return the error for an event that is nested too deeply."""
    where = f"{path}: " if path else ""
    message = f"{where}found more than {MAX_DEPTH} objects and lists inside each other"
    return EventLimitError(f"{message}, expected at most that", path=path)


def scalar_kind(value: Any, path: str) -> str:
    """Return the Avro type of a value that is neither null, object nor list.

    Raises:
        EventValueError: no Avro type holds the value unchanged.
    """
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        if holds("long", value):
            return "long"
        raise refused(value, "a whole number within 64 bits", path)
    if isinstance(value, float):
        if math.isfinite(value):
            return "double"
        raise refused(value, "a number within the range of a double", path)
    if isinstance(value, str):
        check_text(value, path)
        return "string"
    if isinstance(value, Decimal):
        raise refused(value, _EXACT_NUMBER, path)
    raise refused(value, f"a JSON value, not a Python {type(value).__name__}", path)


def check_name(name: str, path: str) -> None:
    """Raise EventValueError if a name is empty, which no attribute of a row can be."""
    if not name:
        raise EventValueError(
            f"{path or 'the event'}: found a field with an empty name, expected a name of one"
            " character or more",
            path=path,
        )


def check_text(text: str, path: str) -> None:
    """Raise EventValueError if the text holds a lone surrogate, which UTF-8 cannot encode."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise refused(text, "a string without lone surrogates", path) from error
