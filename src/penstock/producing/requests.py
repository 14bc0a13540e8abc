"""The payloads of an invocation: an event, a list of events, or a request of an HTTP API.

The body of a request is JSON text, and so is a payload that is a string. Lambda parses any other
payload before a function sees it: it makes each number the nearest double, and of equal keys in an
object it keeps the last.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from penstock.errors import EventError, EventLimitError, EventTextError
from penstock.schemas import scan_value

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

    An event that cannot be read is its text if the request is text, else the payload as it came.
    `is_text` says that the events were read from text here, `is_whole` that this is the whole
    request, which may have events (`split_request`).
    """

    form: Form
    events: tuple[Any, ...]
    is_api: bool = False
    problems: Mapping[int, EventError] = field(default_factory=dict)
    is_whole: bool = False
    is_text: bool = False


def read_request(given: Any) -> Request:
    """Read the events of a payload; a payload that cannot be read is one event with a problem."""
    is_api = is_api_call(given)
    is_text = is_api or isinstance(given, str)
    problems: dict[int, EventError] = {}
    try:
        content = given
        if is_text:
            body = _read_text(given) if is_api else given
            content = _read_body(body, problems, "a body" if is_api else "text")
        if isinstance(content, dict):
            return Request(Form.EVENT, (content,), is_api, is_text=is_text)
        if isinstance(content, list):
            _check_count(len(content))
            return Request(Form.BATCH, tuple(content), is_api, problems, is_text=is_text)
        raise EventTextError(
            f"found {_shown(content)}, expected an event (a JSON object), a list of events, the "
            "text of either, or an API's call with requestContext and body"
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


def is_api_call(given: Any) -> bool:
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


def _read_body(body: str, problems: dict[int, EventError], what: str) -> Any:
    """Read the JSON of a body; the items of a list that cannot be read are added to `problems`."""
    try:
        start = _skip_space(body, 0)
        if body[start : start + 1] == "[":
            return _read_list(body, start + 1, problems)
        value, end = scan_value(body, start)
        _check_end(body, end)
    except RecursionError as error:
        message = f"found {what} with objects and lists too deep to be read"
        raise EventTextError(message) from error
    except ValueError as error:
        raise EventTextError(f"found {what} that is not JSON: {error}") from error
    if isinstance(value, EventError):
        raise value
    return value


def _read_list(
    body: str, at: int, problems: dict[int, EventError], most: int = MAX_EVENTS
) -> list[Any]:
    """Read the items of a list; one that is JSON but no event becomes its text, with a problem."""
    events: list[Any] = []
    at = _skip_space(body, at)
    while events or body[at : at + 1] != "]":
        value, end = scan_value(body, at)
        if isinstance(value, EventError):
            problems[len(events)] = value
        events.append(body[at:end] if isinstance(value, EventError) else value)
        _check_count(len(events), most)
        at = _skip_space(body, end)
        if body[at : at + 1] != ",":
            break
        at = _skip_space(body, at + 1)
    if body[at : at + 1] != "]":
        raise json.JSONDecodeError("Expecting ',' delimiter", body, at)
    _check_end(body, at + 1)
    return events


def _check_end(body: str, at: int) -> None:
    if (rest := _skip_space(body, at)) != len(body):
        raise json.JSONDecodeError("Extra data", body, rest)


def _skip_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


_SPACE: Final = re.compile(r"[ \t\n\r]*")


def _shown(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return "text" if isinstance(value, str) else "a number"
