"""The payloads of an invocation: an event, a list of events, or a request of an HTTP API."""

from __future__ import annotations

import base64
import binascii
import json
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NoReturn

from penstock.errors import EventTextError

# Besides `requestContext`: an event can have a field of that name too.
_API_MEMBERS = {"body", "httpMethod", "rawPath"}


class Form(StrEnum):
    """The form of a request, which is also the form of its answer."""

    EVENT = "event"
    BATCH = "batch"


@dataclass(frozen=True, slots=True)
class Request:
    """The events of one invocation; `problem` says why they cannot be read.

    With a problem, `events` has one item: the text of an API's call, or the payload as it came.
    """

    form: Form
    events: tuple[Any, ...]
    is_api: bool = False
    problem: EventTextError | None = None


def read_request(given: Any) -> Request:
    """Read the events of a payload; a payload that cannot be read becomes a `problem`."""
    is_api = _is_api_call(given)
    try:
        content = _read_body(given) if is_api else given
        if isinstance(content, dict):
            return Request(Form.EVENT, (content,), is_api)
        if isinstance(content, list):
            return Request(Form.BATCH, tuple(content), is_api)
        raise EventTextError(
            f"found {_shown(content)}, expected an event (a JSON object), a list of events, or "
            "an API's call with requestContext and body"
        )
    except EventTextError as error:
        kept = given["body"] if is_api and isinstance(given.get("body"), str) else given
        return Request(Form.EVENT, (kept,), is_api, error)


def _is_api_call(given: Any) -> bool:
    """Return whether a payload is the request of an API; one without a body has other members."""
    return (
        isinstance(given, dict)
        and isinstance(given.get("requestContext"), dict)
        and not _API_MEMBERS.isdisjoint(given)
    )


def _read_body(call: dict[str, Any]) -> Any:
    body = call.get("body")
    if not isinstance(body, str):
        raise EventTextError(
            f"found {_shown(body)} as the body of an API's call, expected JSON text"
        )
    if call.get("isBase64Encoded"):
        try:
            body = base64.b64decode(body, validate=True).decode()
        except (binascii.Error, UnicodeDecodeError) as error:
            raise EventTextError(
                f"found a body that is not base64 of UTF-8 text, as isBase64Encoded says: {error}"
            ) from error
    try:
        return json.loads(body, object_pairs_hook=_read_object, parse_constant=_refuse_constant)
    except RecursionError as error:
        raise EventTextError("found a body with objects and lists too deep to be read") from error
    except ValueError as error:
        raise EventTextError(f"found a body that is not JSON: {error}") from error


def _read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    read = dict(pairs)
    if len(read) < len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise EventTextError(f"{twice}: found the key twice in one object, expected it once")
    return read


def _refuse_constant(name: str) -> NoReturn:
    raise EventTextError(f"found {name} in a body, expected JSON, which has no such number")


def _shown(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return "text" if isinstance(value, str) else "a number"
