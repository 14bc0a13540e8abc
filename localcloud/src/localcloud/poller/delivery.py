"""The delivery of one batch to the function: retries, bisecting, discarding; never reordering."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from localcloud.poller.batch import MAX_EVENT_BYTES, Item, Place, make_event, split_by_size
from localcloud.poller.failure_record import Ending, describe_discarded
from localcloud.poller.settings import MappingSettings

NOTHING_YET = "No records processed"
OK = "OK"
CALL_FAILED = "PROBLEM: Function call failed"
_FIRST_PAUSE_SECONDS = 0.2
_LONGEST_PAUSE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer of Invoke."""

    request_id: str
    version: str
    function_error: str | None
    body: bytes


class Lambda(Protocol):
    """The AWS calls of a delivery."""

    def invoke(self, event: bytes) -> Reply:
        """Invoke the function; raise CallRefusedError if that is impossible now."""

    def discard(self, record: Mapping[str, Any], event: bytes) -> None:
        """Send a failure record to the destination, if any; raise CallRefusedError if refused."""


class CallRefusedError(Exception):
    """An AWS call failed, but not because of the function: it is retried."""


@dataclass(frozen=True, slots=True)
class _Chunk:
    """Records for one event, after `tries` failures."""

    items: tuple[Item, ...]
    tries: int = 0


class Delivery:
    """The delivery of one batch. Each `step` makes at most one invocation."""

    def __init__(
        self,
        settings: MappingSettings,
        items: Sequence[Item],
        calls: Lambda,
        report: Callable[[str], None],
        stop: threading.Event,
    ) -> None:
        self._settings = settings
        self._calls = calls
        self._report = report
        self._stop = stop
        chunks = split_by_size(settings.bootstrap_servers, items)
        self._todo = [_Chunk(run) for run in chunks][::-1]  # the next one is the last

    @property
    def finished(self) -> bool:
        """Return whether the delivery is complete."""
        return not self._todo

    def drop(self, places: set[Place]) -> None:
        """Drop the partitions that another member of the group now reads."""
        kept = [
            replace(chunk, items=tuple(item for item in chunk.items if item.place not in places))
            for chunk in self._todo
        ]
        self._todo = [chunk for chunk in kept if chunk.items]

    def step(self) -> dict[Place, int]:
        """Try the next records; return the offsets up to which all is done, by partition."""
        chunk = self._todo.pop()
        done, left = self._try(chunk)
        self._todo += reversed(left)
        return {item.place: item.offset + 1 for item in done}

    def _try(self, chunk: _Chunk) -> tuple[Sequence[Item], list[_Chunk]]:
        """Return the items that are done, and the rest of the chunk in order."""
        event = make_event(self._settings.bootstrap_servers, chunk.items)
        if len(event) > MAX_EVENT_BYTES:
            return self._discard(chunk, event, Ending("MaximumPayloadSizeExceeded", chunk.tries))
        if self._is_too_old(chunk):
            return self._discard(chunk, event, Ending("MaximumRecordAgeExceeded", chunk.tries))
        try:
            reply = self._calls.invoke(event)
        except CallRefusedError as error:  # throttled or Lambda unreachable: not the records' fault
            self._report(f"PROBLEM: {error}")
            self._pause(chunk.tries)
            return (), [chunk]
        failed = _find_failed(reply, chunk.items, self._settings)
        if not failed:
            self._report(OK)
            return chunk.items, []
        self._report(CALL_FAILED)
        return self._handle_failure(chunk, failed, reply, event)

    def _handle_failure(
        self, chunk: _Chunk, failed: dict[Place, int], reply: Reply, event: bytes
    ) -> tuple[Sequence[Item], list[_Chunk]]:
        """Continue after the items before each partition's first failed record."""
        done: list[Item] = []
        rest: list[Item] = []
        for item in chunk.items:
            (done if item.offset < failed.get(item.place, 1 << 63) else rest).append(item)
        tries = chunk.tries + 1
        if self._settings.bisect and len(rest) > 1:
            middle = len(rest) // 2
            return done, [_Chunk(tuple(rest[:middle])), _Chunk(tuple(rest[middle:]))]
        if self._settings.max_retries is not None and tries > self._settings.max_retries:
            last = _Chunk(tuple(rest), tries)
            if done:  # the failure record describes the failed records only
                event = make_event(self._settings.bootstrap_servers, rest)
            ending = Ending(
                "RetryAttemptsExhausted",
                tries,
                reply.request_id,
                reply.version,
                reply.function_error,
            )
            discarded, left = self._discard(last, event, ending)
            return [*done, *discarded], left
        self._pause(chunk.tries)
        return done, [_Chunk(tuple(rest), tries)]

    def _discard(
        self, chunk: _Chunk, event: bytes, ending: Ending
    ) -> tuple[Sequence[Item], list[_Chunk]]:
        """Discard records, after the destination has accepted the failure record."""
        record = describe_discarded(self._settings, chunk.items, len(event), ending)
        tries = 0
        while not self._stop.is_set():
            try:
                self._calls.discard(record, event)
            except CallRefusedError as error:
                self._report(f"PROBLEM: the on-failure destination: {error}")
                self._pause(tries)
                tries += 1
            else:
                return chunk.items, []
        return (), [chunk]

    def _is_too_old(self, chunk: _Chunk) -> bool:
        limit = self._settings.max_age_seconds
        oldest_ms = min(item.timestamp_ms for item in chunk.items)
        return limit is not None and oldest_ms < (time.time() - limit) * 1000

    def _pause(self, tries: int) -> None:
        self._stop.wait(min(_FIRST_PAUSE_SECONDS * 2**tries, _LONGEST_PAUSE_SECONDS))


def _find_failed(
    reply: Reply, items: Sequence[Item], settings: MappingSettings
) -> dict[Place, int]:
    """Return each partition's first failed offset; an empty result is success.

    An invalid partial batch response fails the whole batch, as on AWS.
    """
    first: dict[Place, int] = {}
    for item in items:
        first.setdefault(item.place, item.offset)
    if reply.function_error:
        return first
    if not settings.partial_answers:
        return {}
    names = {f"{place.topic}-{place.partition}": place for place in first}
    failed: dict[Place, int] = {}
    try:
        answer = json.loads(reply.body or b"null") or {}
        for failure in answer.get("batchItemFailures") or ():
            identifier = failure["itemIdentifier"]
            place, offset = names[identifier["partition"]], int(identifier["offset"])
            failed[place] = min(offset, failed.get(place, offset))
    except (ValueError, TypeError, KeyError, AttributeError):
        return first
    return failed
