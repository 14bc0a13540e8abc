"""Times, bytes and decoded values, for the terminal and as JSON.

JSON is one object a line, because `read --follow` and `produce` have no end, and a command that is
interrupted would leave half of a single document.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from penstock.schemas import write_value

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def show_moment(milliseconds: int) -> str:
    """Return a Kafka timestamp as text; -1 stands for none, and a producer may send any number."""
    try:
        moment = _EPOCH + timedelta(milliseconds=milliseconds)
    except OverflowError:
        return str(milliseconds)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def show_bytes(value: bytes | None) -> str:
    """Return bytes for the terminal: text as it is, other bytes escaped."""
    return "null" if value is None else value.decode("utf-8", "backslashreplace")


def describe_bytes(value: bytes | None) -> Any:
    """Return bytes for JSON: a string, or an object with their base64 if they are not UTF-8."""
    if value is None:
        return None
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(value).decode()}


def describe_headers(headers: Iterable[tuple[str, bytes | None]]) -> list[dict[str, Any]]:
    """Return a record's headers for JSON: not as one object, since a name may occur twice."""
    return [{"name": name, "value": describe_bytes(value)} for name, value in headers]


def describe_value(value: Any) -> Any:
    """Return a value for JSON.

    Bytes and NaN, which JSON lacks, become strings. The fields of a dataclass get names such as
    `newVersions`; the names of a mapping are data, and stay.
    """
    if is_dataclass(value) and not isinstance(value, type):
        value = {_camel(each.name): getattr(value, each.name) for each in fields(value)}
    described = value
    match value:
        case Mapping():
            described = {name: describe_value(member) for name, member in value.items()}
        case list() | tuple():
            described = [describe_value(item) for item in value]
        case bytes():
            described = base64.b64encode(value).decode()
        case datetime():
            described = value.isoformat()
        case Path():
            described = str(value)
        case float() if not math.isfinite(value):
            described = str(value)
    return described


def format_json(value: Any) -> str:
    """Return what `--output json` prints for a value: an object in one line of ASCII."""
    return write_value(describe_value(value))


def print_json(value: Any) -> None:
    """Print a value as JSON in one line, which a program that reads the output has at once."""
    print(format_json(value), flush=True)


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))
