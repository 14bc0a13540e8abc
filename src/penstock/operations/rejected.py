"""Rejected events: list them, and send them to their producer again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from penstock.errors import OperationError, SinkError
from penstock.operations._clients import build_client
from penstock.producing import RejectedEvent, RejectedEvents

# An event that is sent twice is in Kafka twice, so the client must not retry.
_CONFIG = Config(read_timeout=65, retries={"mode": "standard", "total_max_attempts": 1})


@dataclass(frozen=True, slots=True)
class ListedEvent:
    """An object of the bucket: the event, or the problem if it cannot be read."""

    key: str
    event: RejectedEvent | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ReplayedEvent:
    """An event that was sent again: its record, or the problem if it stays in the bucket."""

    key: str
    record: str = ""  # topic/partition/offset
    problem: str = ""


class _NotAcceptedError(Exception):
    """The producer did not write the event."""


def list_rejected(bucket: str, prefix: str = "") -> Iterator[ListedEvent]:
    """Yield the events whose keys begin with the prefix, oldest day first.

    Raises:
        SinkError: the bucket cannot be read.
    """
    events = RejectedEvents(bucket)
    for key in events.list(prefix):
        try:
            yield ListedEvent(key, events.read(key))
        except ValueError as error:
            yield ListedEvent(key, None, str(error))


def replay_rejected(
    bucket: str, prefixes: Iterable[str], function: str | None = None
) -> Iterator[ReplayedEvent]:
    """Send each event to its producer, or to `function`, and delete it once it is written.

    Events are sent one after the other, each when the caller asks for its result.

    Raises:
        SinkError: the bucket cannot be read, or a written event cannot be deleted.
        OperationError: a prefix is empty, which would replay every event, or the AWS configuration
            is incomplete, for example without a region.
    """
    prefixes = list(prefixes)
    if "" in prefixes:
        raise OperationError(
            "found an empty key, expected a key or a prefix of keys such as 2026/11/21"
        )
    events, client = RejectedEvents(bucket), build_client("lambda", _CONFIG)
    # List all keys before the first event is deleted; a key of two prefixes is sent once.
    for key in dict.fromkeys(key for prefix in prefixes for key in events.list(prefix)):
        try:
            yield ReplayedEvent(key, record=_send_again(events, key, client, function))
        except (_NotAcceptedError, ValueError) as error:
            yield ReplayedEvent(key, problem=str(error))


def _send_again(events: RejectedEvents, key: str, client: Any, function: str | None) -> str:
    """Send one event, delete it, and return its record as topic/partition/offset."""
    event = events.read(key)
    name = function or event.function
    match _invoke(client, name, event.again()):
        case {"topic": str(topic), "partition": int(partition), "offset": int(offset)}:
            record = f"{topic}/{partition}/{offset}"
        case {"error": {"reason": reason, "message": message, "kept": kept}}:
            # The producer kept the event again; the first copy has the first time of arrival.
            if kept:
                events.delete(kept)
            raise _NotAcceptedError(f"{reason}: {message}")
        case outcome:
            raise _NotAcceptedError(
                f"found {outcome!r:.200} as the outcome from {name}, expected a record or an error"
            )
    try:
        events.delete(key)
    except SinkError as error:
        raise SinkError(
            f"{error}; the event is written, so delete the object by hand, or a replay writes it "
            "again"
        ) from error
    return record


def _invoke(client: Any, function: str, event: Any) -> Any:
    """Send one event as a batch, whose answer has the outcome of each event, and return that."""
    try:
        answer = client.invoke(FunctionName=function, Payload=json.dumps([event]).encode())
        content = json.loads(answer["Payload"].read())
    except (ClientError, BotoCoreError) as error:
        message = f"{function} cannot be invoked: {str(error).rstrip('.')}"
        raise _NotAcceptedError(message) from error
    if answer.get("FunctionError"):
        raise _NotAcceptedError(f"{content.get('errorType')}: {content.get('errorMessage')}")
    if not isinstance(content, list) or len(content) != 1:
        raise _NotAcceptedError(
            f"found {content!r:.200} as the answer of {function}, expected a list of one outcome"
        )
    return content[0]
