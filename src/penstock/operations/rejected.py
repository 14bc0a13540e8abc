"""Rejected events: list them, and send them to their producer again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, chain
from typing import Any, Final

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from penstock.errors import OperationError, SinkError
from penstock.operations.clients import build_client
from penstock.producing import RejectedEvent, RejectedEvents, write_events

# An event that is sent twice is in Kafka twice, so the client must not retry.
_CONFIG = Config(read_timeout=65, retries={"mode": "standard", "total_max_attempts": 1})
# Lambda takes fewer bytes for a request, and its time lets the producer keep some thousand events.
_LARGEST: Final = 6 * 2**20
_MOST_EVENTS: Final = 500
_MOST_BYTES: Final = 4_000_000

_WRITTEN: Final = "the event is written, so delete the object by hand, or a replay writes it again"

_Send = Callable[[Sequence[Any]], list[Any]]


@dataclass(frozen=True, slots=True)
class ListedEvent:
    """An object of the bucket: the event, or the problem if it cannot be read."""

    key: str
    event: RejectedEvent | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ReplayedEvent:
    """An event that was sent again: its record, or the problem if it stays in the bucket.

    A request that was kept whole has no record, but the numbers of its events that were written,
    and that were rejected again, so that each has an object of its own.
    """

    key: str
    record: str = ""  # topic/partition/offset
    problem: str = ""
    written: int = 0
    rejected: int = 0


class _NotAcceptedError(Exception):
    """The producer did not write the event."""


def list_rejected(bucket: str, prefix: str = "") -> Iterator[ListedEvent]:
    """Yield the events whose keys begin with the prefix, by producer, oldest day first.

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
    bucket: str,
    prefixes: Iterable[str],
    function: str | None = None,
    *,
    is_stopped: Callable[[], bool] = lambda: False,
) -> Iterator[ReplayedEvent]:
    """Send each event to its producer, or to `function`, and delete it once it is written.

    An event that names another function than its key begins with stays, unless `function` is given.
    Events are sent one after the other, each when the caller asks for its result. Nothing is sent
    once `is_stopped` is true.

    Raises:
        SinkError: the bucket cannot be read, or an event that is written stays in it, whole or
            as part of a request.
        OperationError: a prefix is empty, which would replay every event, or is that of no key;
            or the AWS configuration is incomplete, for example without a region.
    """
    events, client = RejectedEvents(bucket), build_client("lambda", _CONFIG)
    for key in _list_keys(events, bucket, list(prefixes)):
        if is_stopped():
            return
        try:
            event = events.read(key)
            called = function or _find_producer(key, event)
            send = partial(_send_unless, is_stopped, client, called)
            parts = event.list_events()
            if parts == [event.with_base()]:
                yield _send_event(events, key, parts, send)
            else:
                yield _send_request(events, key, event, parts, send)
        except (_NotAcceptedError, ValueError) as error:
            yield ReplayedEvent(key, problem=str(error))


def _list_keys(events: RejectedEvents, bucket: str, prefixes: Sequence[str]) -> Iterable[str]:
    """Return all keys before the first event is deleted; a key of two prefixes is there once."""
    if "" in prefixes:
        raise OperationError(
            "found an empty key, expected a key or a prefix such as penstock-producer/2026/11/21"
        )
    keys = {prefix: list(events.list(prefix)) for prefix in prefixes}
    if missing := [prefix for prefix, found in keys.items() if not found]:
        raise OperationError(
            f"found no event in {bucket} whose key begins with {' or '.join(missing)}, expected a "
            "key that `penstock rejected list` shows, or the beginning of one; nothing was sent"
        )
    return dict.fromkeys(chain.from_iterable(keys.values()))


def _find_producer(key: str, event: RejectedEvent) -> str:
    """Return the function that put the event, by its key; a document may name any."""
    producer = key.partition("/")[0]
    if event.function != producer:
        raise _NotAcceptedError(
            f"found {event.function} as the function of the event, expected the first part of its "
            f"key, {producer}; send it to a function with --function"
        )
    return producer


def _send_event(
    events: RejectedEvents, key: str, parts: Sequence[Any], send: _Send
) -> ReplayedEvent:
    """Send one event, and delete it once it is written."""
    match send(parts)[0]:
        case {"topic": str(topic), "partition": int(partition), "offset": int(offset)}:
            record = f"{topic}/{partition}/{offset}"
        case {"error": {"reason": reason, "message": message, "kept": kept}}:
            # The producer kept the event again; the first copy has the first time of arrival.
            if kept:
                said = f"it is a second copy of {key}, so delete it by hand, or a replay sends both"
                _delete(events, kept, said)
            raise _NotAcceptedError(f"{reason}: {message}")
        case outcome:
            raise _NotAcceptedError(_describe_outcome(outcome))
    _delete(events, key, _WRITTEN)
    return ReplayedEvent(key, record, written=1)


def _send_request(
    events: RejectedEvents, key: str, event: RejectedEvent, parts: Sequence[Any], send: _Send
) -> ReplayedEvent:
    """Send the events of a request; delete the request once each is written or kept by itself.

    Those that are too large for a call come last and stay. After each call the request has only
    those that are left, so that a replay which is interrupted does not write the others again.
    """
    left, written = sorted(parts, key=lambda part: _is_too_large(_write_payload([part]))), 0
    try:
        while left:
            some = left[: _count_sendable(left)]
            last = sum(map(_is_written, send(some)))
            written += last
            del left[: len(some)]
            if left:
                said = f"{written:,} of {len(parts):,} events are written, the last {last:,} of"
                with _explained(f"{said} which a replay writes again"):
                    events.rewrite(key, replace(event, event=left))
    except _NotAcceptedError as error:
        problem = f"{len(left):,} of {len(parts):,} events are left: {error}"
        return ReplayedEvent(key, "", problem, written, len(parts) - len(left) - written)
    _delete(events, key, _WRITTEN)
    return ReplayedEvent(key, written=written, rejected=len(parts) - written)


def _is_written(outcome: Any) -> bool:
    """Return whether an event of a request is written, not kept by itself."""
    match outcome:
        case {"topic": str(), "partition": int(), "offset": int()}:
            return True
        case {"error": {"kept": str()}}:
            return False
    raise _NotAcceptedError(_describe_outcome(outcome))


def _count_sendable(events: Sequence[Any]) -> int:
    """Return the number of events of the next call: at least one."""
    sizes = accumulate(len(_write_payload([event])) for event in events[:_MOST_EVENTS])
    return max(1, sum(size <= _MOST_BYTES for size in sizes))


def _delete(events: RejectedEvents, key: str, said: str) -> None:
    with _explained(said):
        events.delete(key)


@contextmanager
def _explained(said: str) -> Iterator[None]:
    """Say what an error of the bucket leaves to do."""
    try:
        yield
    except SinkError as error:
        raise SinkError(f"{error}; {said}") from error


def _describe_outcome(outcome: Any) -> str:
    return f"found {outcome!r:.200} as the outcome of an event, expected a record or an error"


def _write_payload(events: Sequence[Any]) -> bytes:
    """Return a payload that is the text of a list: Lambda reads a string without changing it."""
    return json.dumps(write_events(events), ensure_ascii=False).encode()


def _is_too_large(payload: bytes) -> bool:
    return len(payload) >= _LARGEST


def _send_unless(
    is_stopped: Callable[[], bool], client: Any, function: str, events: Sequence[Any]
) -> list[Any]:
    if is_stopped():
        raise _NotAcceptedError("the replay was interrupted")
    return _invoke(client, function, events)


def _invoke(client: Any, function: str, events: Sequence[Any]) -> list[Any]:
    """Send a batch of events, and return the outcome of each."""
    payload = _write_payload(events)
    if _is_too_large(payload):
        raise _NotAcceptedError(
            f"found an event of {len(payload):,} bytes as text, and Lambda takes fewer than "
            f"{_LARGEST:,}: write all that are left with `penstock produce`, then delete the object"
        )
    try:
        answer = client.invoke(FunctionName=function, Payload=payload)
        content = json.loads(answer["Payload"].read())
    except (ClientError, BotoCoreError) as error:
        message = f"{function} cannot be invoked: {str(error).rstrip('.')}"
        raise _NotAcceptedError(message) from error
    if answer.get("FunctionError"):
        raise _NotAcceptedError(f"{content.get('errorType')}: {content.get('errorMessage')}")
    if not isinstance(content, list) or len(content) != len(events):
        raise _NotAcceptedError(
            f"found {content!r:.200} as the answer of {function}, expected a list of "
            f"{len(events)} outcomes"
        )
    return content
