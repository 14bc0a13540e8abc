"""Times in JSON: ISO 8601 texts with a zone, and whole numbers since 1970.

| value                                           | a time in                                     |
| ----------------------------------------------- | --------------------------------------------- |
| `2026-11-25T06:20:00.123+01:00`, `...Z`         | seconds with up to 9 digits of a fraction     |
| 0 to 10^8 - 1                                   | milliseconds: a clock that nobody has set     |
| 10^8 (March 1973) to 10^11 - 1                  | seconds                                       |
| 10^11 (March 1973) to 10^14 - 1                 | milliseconds                                  |
| 10^14 (March 1973) and more                     | microseconds                                  |

Times end in November 2286, so that 13 digits of milliseconds sort as text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from penstock.schemas._json import refused
from penstock.schemas.definition import Schema

TIME_PATTERN: Final = (
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?"
    r"(Z|[+-][0-9]{2}:?[0-9]{2})"
)
TIME_MEANING: Final = (
    "a time until 2286: text in ISO 8601 with a zone, such as 2026-11-25T06:20:00+01:00, or whole"
    " seconds, milliseconds or microseconds since 1970"
)
# The first number that is not of the unit, and nanoseconds of a unit.
TIME_UNITS: Final = (
    (10**8, 1_000_000),
    (10**11, 1_000_000_000),
    (10**14, 1_000_000),
    (10**17, 1_000),
)
END_NANOSECONDS: Final = 10**19
_TEXT: Final = re.compile(TIME_PATTERN)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FORMS: Final = {"timestamp-millis": 1_000_000, "timestamp-micros": 1_000}
_MILLISECOND: Final = 1_000_000


class Times(StrEnum):
    """The type of ISO 8601 texts with a zone in fields that have no type yet."""

    TEXT = "text"
    MILLIS = "timestamp-millis"
    MICROS = "timestamp-micros"


def is_time_text(value: Any) -> bool:
    """Return whether a value is a text in ISO 8601 with a zone, at any time that exists."""
    return isinstance(value, str) and _read_text(value) is not None


def read_time(value: Any) -> int | None:
    """Return the nanoseconds since 1970 of a time, or None for any other value."""
    found = None
    if isinstance(value, str):
        found = _read_text(value)
    elif type(value) is int:
        found = next((value * size for beyond, size in TIME_UNITS if value < beyond), None)
    return found if found is not None and 0 <= found < END_NANOSECONDS else None


def _read_text(text: str) -> int | None:
    match = _TEXT.fullmatch(text)
    if match is None:
        return None
    fraction = match[1] or ""
    try:
        moment = datetime.fromisoformat(text.replace(fraction, "", 1))
    except ValueError:  # no such day or hour
        return None
    seconds = (moment - _EPOCH) // timedelta(seconds=1)
    return seconds * 10**9 + int(fraction[1:].ljust(9, "0"))


def fit_time(value: Any, form: str, path: str) -> Any:
    """Return a time in the form of its field: a number or a text, at the same moment.

    `form` is the field's logical type, else its kind. A text or a number stays as it is in a field
    that holds either.

    Raises:
        EventValueError: the value is no time, or has more digits than the field.
    """
    is_any = isinstance(value, str) and form in _FORMS
    nanoseconds = _read_text(value) if is_any else read_time(value)
    if nanoseconds is None:
        raise refused(value, TIME_MEANING, path)
    if form == "string":
        return value if isinstance(value, str) else _write_text(nanoseconds)
    if form == "long" and not isinstance(value, str):
        return value
    if form != "long" and form not in _FORMS:
        return value
    whole, rest = divmod(nanoseconds, _FORMS.get(form, _MILLISECOND))
    if rest:
        unit = "microseconds" if form == "timestamp-micros" else "milliseconds"
        raise refused(value, f"a time in whole {unit}, which the field holds", path)
    return whole


def fit_own_time(value: Any, form: str, path: str) -> Any:
    """Return an event time in the form of its field; see `fit_time`.

    Raises:
        EventValueError: also a time whose number readers would take for another unit, as they read
            the unit from its size.
    """
    fitted = fit_time(value, form, path)
    if type(fitted) is int and read_time(fitted) != read_time(value):
        expected = "a time from March 1973 on: readers take a smaller number for another unit"
        raise refused(value, expected, path)
    return fitted


def fit_event_time(event: Mapping[str, Any], schema: Schema, name: str | None) -> Mapping[str, Any]:
    """Return the event with its time in the form of the schema's field; see `fit_own_time`."""
    value = event.get(name) if name is not None else None
    form = None if value is None else _find_form(schema, str(name))
    if form is None:
        return event
    fitted = fit_own_time(value, form, str(name))
    return event if fitted is value else {**event, str(name): fitted}


def _find_form(schema: Schema, name: str) -> str | None:
    """Return the logical type, else the kind, of a field that is a number or a text."""
    for field in schema["fields"] if isinstance(schema, dict) else ():
        if field.get("jsonName", field["name"]) == name:
            branches = field["type"] if isinstance(field["type"], list) else [field["type"]]
            forms = [_name_form(branch) for branch in branches if branch != "null"]
            known = [form for form in forms if form in {"string", "long", *_FORMS}]
            return known[0] if len(forms) == len(known) == 1 else None
    return None


def _name_form(branch: Any) -> str:
    if isinstance(branch, str):
        return branch
    return str(branch.get("logicalType", branch["type"]))


def _write_text(nanoseconds: int) -> str:
    """Return the text of a number, which has no nanoseconds."""
    moment = _EPOCH + timedelta(microseconds=nanoseconds // 1_000)
    spec = "microseconds" if nanoseconds % _MILLISECOND else "milliseconds"
    return moment.isoformat(timespec=spec).replace("+00:00", "Z")
