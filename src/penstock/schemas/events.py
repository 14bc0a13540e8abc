"""The strict parser of JSON events: it rejects JSON that a record could not hold unchanged."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import dataclass
from typing import Any, NoReturn

from penstock.errors import EventTextError, EventValueError
from penstock.schemas._json import (
    check_depth,
    check_text,
    join_path,
    scalar_kind,
    shown,
    too_deep,
)

# The most characters of a whole number within 64 bits; Python does not read more than 4,300 digits.
_LONGEST_INTEGER = len(str(-(2**63)))


def parse_event(text: str | bytes) -> dict[str, Any]:
    """Parse one JSON object; every value must be one that a record can hold unchanged.

    Raises:
        EventTextError: not UTF-8, not JSON, not an object, or a key that occurs twice.
        EventValueError: a number or text that no schema here can carry.
        EventLimitError: nested too deeply.
    """
    event = _load(text)
    _check(event, "", 1)
    if not isinstance(event, dict):
        raise EventTextError(f"found {shown(event)}, expected a JSON object")
    return event


def _load(text: str | bytes) -> Any:
    try:
        return json.loads(
            text if isinstance(text, str) else text.decode(),
            object_pairs_hook=_read_object,
            parse_int=_read_integer,
            parse_float=_read_float,
            parse_constant=lambda name: _Refused(EventTextError, f"{name}, expected a number"),
        )
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


def _read_float(digits: str) -> float | _Refused:
    value = float(digits)
    if math.isfinite(value):
        return value
    return _Refused(EventValueError, f"{digits}, expected a number within the range of a double")


def _check(value: Any, path: str, depth: int) -> None:
    if isinstance(value, _Refused):
        value.refuse(path)
    if isinstance(value, dict):
        check_depth(depth, path)
        for key, member in value.items():
            inside = join_path(path, key)
            check_text(key, inside)
            _check(member, inside, depth + 1)
    elif isinstance(value, list):
        check_depth(depth, path)
        for item in value:
            _check(item, f"{path}[]", depth + 1)
    elif value is not None:
        scalar_kind(value, path)
