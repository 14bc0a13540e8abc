"""FilterLogEvents: the events of a log group that match, in order of time and page by page.

API reference, "FilterLogEvents". moto ignores the prefix of streams and conditions on JSON.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any, Final

from moto.logs.models import LogGroup, LogStream, logs_backends

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, operation
from localcloud.services.logs.patterns import Matcher, read_pattern

_MOST: Final = 10_000
_GROUP_NAMES: Final = ("logGroupName", "logGroupIdentifier")


@operation("logs", "FilterLogEvents")
def filter_log_events(call: Call) -> dict[str, Any]:
    """Return a page of the events that match, and a token if there are more."""
    matches = _read_pattern(call.params.get("filterPattern", ""))
    limit = call.params.get("limit", _MOST)
    if not 1 <= limit <= _MOST:
        raise _refuse(f"limit must be between 1 and {_MOST}; found {limit}")
    events = _find_events(_find_streams(_find_group(call), call.params), matches, call.params)
    if token := call.params.get("nextToken"):
        last = _read_token(token)
        events = [event for event in events if _order(event) > last]
    answer: dict[str, Any] = {"events": events[:limit], "searchedLogStreams": []}
    if len(events) > limit:
        answer["nextToken"] = _write_token(events[limit - 1])
    return answer


def _read_pattern(pattern: str) -> Matcher:
    try:
        return read_pattern(pattern)
    except ValueError as error:
        raise _refuse(str(error)) from error


def _find_group(call: Call) -> LogGroup:
    given = [call.params[key] for key in _GROUP_NAMES if key in call.params]
    if len(given) != 1:
        raise _refuse("expected one of logGroupName and logGroupIdentifier")
    name = given[0].rpartition(":log-group:")[2]  # of an ARN too
    groups = logs_backends[call.owner or call.account][call.region].groups
    if name not in groups:
        raise AwsError("ResourceNotFoundException", "The specified log group does not exist.")
    return groups[name]


def _find_streams(group: LogGroup, params: dict[str, Any]) -> list[LogStream]:
    names, prefix = params.get("logStreamNames"), params.get("logStreamNamePrefix")
    if names and prefix:
        raise _refuse("expected one of logStreamNames and logStreamNamePrefix")
    if missing := [name for name in names or () if name not in group.streams]:
        raise AwsError(
            "ResourceNotFoundException", f"The specified log stream {missing[0]} does not exist."
        )
    return [
        stream
        for name, stream in list(group.streams.items())
        if (not names or name in names) and name.startswith(prefix or "")
    ]


def _find_events(
    streams: list[LogStream], matches: Matcher, params: dict[str, Any]
) -> list[dict[str, Any]]:
    """Return the events of streams within a time, both ends included, in order."""
    start, end = params.get("startTime", 0), params.get("endTime", float("inf"))
    return sorted(
        (
            event.to_filter_dict() | {"logStreamName": stream.log_stream_name}
            for stream in streams
            for event in list(stream.events)
            if start <= event.timestamp <= end and matches(event.message)
        ),
        key=_order,
    )


def _order(event: dict[str, Any]) -> tuple[int, int]:
    return event["timestamp"], int(event["eventId"])


def _write_token(event: dict[str, Any]) -> str:
    timestamp, number = _order(event)
    return base64.urlsafe_b64encode(f"{timestamp}/{number}".encode()).decode()


def _read_token(token: str) -> tuple[int, int]:
    try:
        timestamp, number = base64.urlsafe_b64decode(token).decode().split("/")
        return int(timestamp), int(number)
    except (ValueError, binascii.Error) as error:
        raise _refuse("The specified nextToken is invalid.") from error


def _refuse(said: str) -> AwsError:
    return AwsError("InvalidParameterException", said)
