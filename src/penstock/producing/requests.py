"""The payloads of an invocation: an event, a list of events, or a request of an HTTP API."""

from __future__ import annotations

import base64
import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, NoReturn

from penstock.errors import EventError, EventLimitError, EventTextError

# Each event takes a few KB until its record is acknowledged.
MAX_EVENTS: Final = 10_000

# Besides `requestContext`: an event can have a field of that name too.
_API_MEMBERS = {"body", "httpMethod", "rawPath"}


class Form(StrEnum):
    """The form of a request, which is also the form of its answer."""

    EVENT = "event"
    BATCH = "batch"


@dataclass(frozen=True, slots=True)
class Request:
    """The events of one invocation; `problems` says by number which cannot be read, and why.

    An event that cannot be read is its text in an API's call, else the payload as it came.
    `is_whole` says that this is the whole request, which may have events (`split_request`).
    """

    form: Form
    events: tuple[Any, ...]
    is_api: bool = False
    problems: Mapping[int, EventError] = field(default_factory=dict)
    is_whole: bool = False


def read_request(given: Any) -> Request:
    """Read the events of a payload; a payload that cannot be read is one event with a problem."""
    is_api = _is_api_call(given)
    problems: dict[int, EventError] = {}
    try:
        content = _read_body(given, problems) if is_api else given
        if isinstance(content, dict):
            return Request(Form.EVENT, (content,), is_api)
        if isinstance(content, list):
            _check_count(len(content))
            return Request(Form.BATCH, tuple(content), is_api, problems)
        raise EventTextError(
            f"found {_shown(content)}, expected an event (a JSON object), a list of events, or "
            "an API's call with requestContext and body"
        )
    except EventError as error:
        kept = _find_text(given) if is_api else given
        return Request(Form.EVENT, (kept,), is_api, {0: error}, is_whole=True)


def split_request(kept: Any) -> list[Any]:
    """Return the events of a request that was kept whole; any other payload is one event."""
    if isinstance(kept, list):
        return kept
    if isinstance(kept, str) and kept[(start := _skip_space(kept, 0)) : start + 1] == "[":
        try:
            return _read_list(kept, start + 1, {}, most=len(kept))
        except (ValueError, RecursionError):
            return [kept]
    return [kept]


def _check_count(events: int, most: int = MAX_EVENTS) -> None:
    if events > most:
        raise EventLimitError(
            f"found more than {MAX_EVENTS:,} events in one request, expected at most that"
        )


def _is_api_call(given: Any) -> bool:
    """Return whether a payload is the request of an API; one without a body has other members."""
    return (
        isinstance(given, dict)
        and isinstance(given.get("requestContext"), dict)
        and not _API_MEMBERS.isdisjoint(given)
    )


def _find_text(call: dict[str, Any]) -> Any:
    """Return the text of a body that is kept; the call itself if it has none."""
    try:
        return _read_text(call)
    except EventTextError:
        return call["body"] if isinstance(call.get("body"), str) else call


def _read_text(call: dict[str, Any]) -> str:
    body = call.get("body")
    if not isinstance(body, str):
        raise EventTextError(
            f"found {_shown(body)} as the body of an API's call, expected JSON text"
        )
    if call.get("isBase64Encoded"):
        try:
            return base64.b64decode(body, validate=True).decode()
        except ValueError as error:
            raise EventTextError(
                f"found a body that is not base64 of UTF-8 text, as isBase64Encoded says: {error}"
            ) from error
    return body


def _read_body(call: dict[str, Any], problems: dict[int, EventError]) -> Any:
    """Read the JSON of a body; the items of a list that cannot be read are added to `problems`."""
    body = _read_text(call)
    try:
        start = _skip_space(body, 0)
        if body[start : start + 1] == "[":
            return _read_list(body, start + 1, problems)
        return _STRICT.decode(body)
    except RecursionError as error:
        raise EventTextError("found a body with objects and lists too deep to be read") from error
    except ValueError as error:
        raise EventTextError(f"found a body that is not JSON: {error}") from error


def _read_list(
    body: str, at: int, problems: dict[int, EventError], most: int = MAX_EVENTS
) -> list[Any]:
    """Read the items of a list; one that is JSON but no event becomes its text, with a problem."""
    events: list[Any] = []
    at = _skip_space(body, at)
    while events or body[at : at + 1] != "]":
        try:
            event, end = _STRICT.raw_decode(body, at)
        except EventTextError as error:
            _, end = _LENIENT.raw_decode(body, at)
            event, problems[len(events)] = body[at:end], error
        events.append(event)
        _check_count(len(events), most)
        at = _skip_space(body, end)
        if body[at : at + 1] != ",":
            break
        at = _skip_space(body, at + 1)
    if body[at : at + 1] != "]":
        raise json.JSONDecodeError("Expecting ',' delimiter", body, at)
    if (rest := _skip_space(body, at + 1)) != len(body):
        raise json.JSONDecodeError("Extra data", body, rest)
    return events


def _skip_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    read = dict(pairs)
    if len(read) < len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise EventTextError(f"{twice}: found the key twice in one object, expected it once")
    return read


def _refuse_constant(name: str) -> NoReturn:
    raise EventTextError(f"found {name} in a body, expected JSON, which has no such number")


def _read_integer(digits: str) -> int:
    try:
        return int(digits)
    except ValueError as error:
        raise EventTextError(f"found a number that cannot be read: {error}") from error


_STRICT: Final = json.JSONDecoder(
    object_pairs_hook=_read_object, parse_constant=_refuse_constant, parse_int=_read_integer
)
_LENIENT: Final = json.JSONDecoder(parse_int=str)  # finds the end of a value, whatever it is
_SPACE: Final = re.compile(r"[ \t\n\r]*")


def _shown(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return "text" if isinstance(value, str) else "a number"
