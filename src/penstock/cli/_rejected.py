"""`penstock rejected`: events that were not written, shown and sent again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TextIO

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from penstock.credentials import load_session
from penstock.errors import SinkError
from penstock.producing import RejectedEvents

# An event that was sent twice is in Kafka twice: no attempt is made again behind our back.
_CONFIG = Config(read_timeout=65, retries={"mode": "standard", "total_max_attempts": 1})
_COLUMNS = "{:<58} {:<24} {:<24} {}"


class _NotAccepted(Exception):
    """Why an event stays where it is."""


def list_rejected(events: RejectedEvents, prefixes: Sequence[str], out: TextIO) -> int:
    """Show each event with why it was not written."""
    print(_COLUMNS.format("KEY", "WHEN", "REASON", "DETAIL"), file=out)
    unreadable = 0
    for key in _keys(events, prefixes):
        try:
            event = events.read(key)
        except ValueError as error:
            print(f"{key} cannot be read: {error}", file=out)
            unreadable += 1
            continue
        print(_COLUMNS.format(key, event.when, event.reason, event.detail), file=out)
    return 1 if unreadable else 0


def replay_rejected(
    events: RejectedEvents, prefixes: Sequence[str], function: str | None, out: TextIO
) -> int:
    """Send events to their producer again; each that is written is deleted, the others stay."""
    client: Any = load_session().create_client("lambda", config=_CONFIG)
    sent = stay = 0
    for key in _keys(events, prefixes):
        try:
            event = events.read(key)
            answer = _send(client.invoke, function or event.function, event.again())
        except (_NotAccepted, ValueError) as error:
            print(f"{key} stays: {error}", file=out)
            stay += 1
            continue
        if refusal := answer.get("error"):
            # The producer has kept it once more; the first copy says when it happened.
            if refusal["kept"]:
                events.delete(refusal["kept"])
            print(f"{key} stays: {refusal['reason']}: {refusal['message']}", file=out)
            stay += 1
            continue
        place = f"{answer['topic']}/{answer['partition']}/{answer['offset']}"
        print(f"{key} is written as {place}", file=out)
        _forget(events, key)
        sent += 1
    print(f"{sent} written, {stay} stay", file=out)
    return 1 if stay or not sent else 0


def _keys(events: RejectedEvents, prefixes: Sequence[str]) -> Iterator[str]:
    """Give each key once, read to the end before anything is deleted."""
    found = dict.fromkeys(key for prefix in prefixes for key in events.list(prefix))
    return iter(found)


def _forget(events: RejectedEvents, key: str) -> None:
    try:
        events.delete(key)
    except SinkError as error:
        raise SinkError(
            f"{error}; the event is written, so delete it by hand: it would be sent once more"
        ) from error


def _send(invoke: Callable[..., Any], function: str, event: Any) -> dict[str, Any]:
    """Send one event as a batch, whose answer says in fields what became of it."""
    try:
        answer = invoke(FunctionName=function, Payload=json.dumps([event]).encode())
        content = json.loads(answer["Payload"].read())
    except (ClientError, BotoCoreError) as error:
        raise _NotAccepted(f"{function} cannot be invoked: {str(error).rstrip('.')}") from error
    if answer.get("FunctionError"):
        raise _NotAccepted(f"{content.get('errorType')}: {content.get('errorMessage')}")
    if not isinstance(content, list) or len(content) != 1:
        raise _NotAccepted(f"{function} answered what no producer does: {content!r:.200}")
    answered: dict[str, Any] = content[0]
    return answered
