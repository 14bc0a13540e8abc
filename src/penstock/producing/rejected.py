"""Rejected events: events that were not written, kept whole on S3 until they are replayed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from itertools import islice
from typing import Any

from botocore.config import Config

from penstock.aws import translated_s3_errors
from penstock.credentials import load_session
from penstock.errors import SinkError
from penstock.producing.requests import split_request
from penstock.schemas import read_number, scan_value, write_value

_WRITERS = 8
_CONFIG = Config(
    connect_timeout=1,
    read_timeout=2,
    max_pool_connections=_WRITERS,
    retries={"mode": "standard", "total_max_attempts": 2},
)


@dataclass(frozen=True, slots=True)
class RejectedEvent:
    """An event that was not written, with the reason and the invocation that brought it.

    `is_request` says that it is a whole request, of which no event was read.
    """

    event: Any
    base: Mapping[str, Any]
    timestamp: int
    reason: str
    detail: str
    rule: str
    diff: tuple[str, ...]
    function: str
    request_id: str
    index: int
    is_request: bool = False

    @property
    def when(self) -> str:
        """The time at which the producer received the event, in ISO 8601 and UTC."""
        return datetime.fromtimestamp(self.timestamp / 1000, UTC).isoformat(timespec="milliseconds")

    @property
    def key(self) -> str:
        """The object's key, by producer and day; the same for a retry on the same day.

        Lambda retries an asynchronous invocation twice, under the same request id. A retry after
        midnight writes a second object: two objects are two replays, and no event is lost.
        """
        day = self.when[:10].replace("-", "/")
        return f"{self.function}/{day}/{self.request_id}-{self.index}.json"

    def again(self) -> Any:
        """Return the event to send again, with the base fields that it was given at first."""
        if not isinstance(self.event, dict):
            return self.event
        return {**self.base, **self.event}

    def split(self) -> list[Any]:
        """Return the events of a request to send again; any other event is the only one.

        Events without a time get the request's time of arrival, each a millisecond later than the
        one before it, as the producer gives times that increase.
        """
        if not self.is_request:
            return [self.again()]
        return [
            {**self._find_base(number), **event} if isinstance(event, dict) else event
            for number, event in enumerate(split_request(self.event))
        ]

    def _find_base(self, number: int) -> dict[str, Any]:
        """Return the base fields of an event of a request."""
        return {
            name: value + number if value == self.timestamp else value
            for name, value in self.base.items()
        }

    def write(self) -> bytes:
        """Return it as one JSON document."""
        document = {
            "event": self.event,
            "base": dict(self.base),
            "stampedAt": self.timestamp,
            "when": self.when,
            "reason": self.reason,
            "detail": self.detail,
            "rule": self.rule,
            "diff": self.diff,
            "function": self.function,
            "requestId": self.request_id,
            "index": self.index,
        } | ({"isRequest": True} if self.is_request else {})
        try:
            return write_value(document).encode()
        except (ValueError, RecursionError):  # NaN or infinity, or nested too deeply
            return json.dumps(document | {"event": _describe(self.event)}).encode()

    @classmethod
    def read(cls, content: bytes) -> RejectedEvent:
        """Read the document.

        Raises:
            ValueError: the content is not the document of a rejected event.
        """
        try:
            found = json.loads(content, parse_float=read_number)
            event = cls(
                found["event"],
                dict(found["base"]),
                found["stampedAt"],
                _text(found["reason"]),
                _text(found["detail"]),
                _text(found["rule"]),
                tuple(map(_text, found["diff"])),
                _text(found["function"]),
                _text(found["requestId"]),
                found["index"],
                bool(found.get("isRequest")),
            )
            _ = event.when  # raises for a number that is not a time
        except (KeyError, TypeError, ValueError, ArithmeticError, OSError, RecursionError) as error:
            raise ValueError(f"no document of a rejected event: {error!r}") from error
        return event


def write_events(events: Sequence[Any]) -> str:
    """Return the text of a list of events, with those that were kept as their text as they are."""
    return f"[{', '.join(map(_write_event, events))}]"


def _write_event(event: Any) -> str:
    if isinstance(event, str):
        try:
            if scan_value(event, 0)[1] == len(event):
                return event
        except (ValueError, RecursionError):  # it is not JSON
            pass
    return write_value(event)


def _describe(event: Any) -> str:
    try:
        return repr(event)
    except RecursionError:
        return "(an event with objects and lists too deep to be written)"


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"found {value!r:.40}, expected a string")
    return value


class RejectedEvents:
    """The bucket of rejected events; the first use connects."""

    def __init__(self, bucket: str) -> None:
        self._bucket = bucket

    @cached_property
    def _s3(self) -> Any:
        """The client, built at the first rejected event, which most environments never see."""
        with self._translated("opened", ""):
            return load_session().create_client("s3", config=_CONFIG)

    def keep(self, events: Sequence[RejectedEvent], kept: dict[int, str]) -> None:
        """Write events, and add the key of each to `kept` by its number in the batch.

        Raises:
            SinkError: some events could not be written; the error of the last one.
        """
        _ = self._s3  # built here, because only one thread at a time may build a client
        problem: SinkError | None = None
        with ThreadPoolExecutor(min(_WRITERS, len(events))) as pool:
            for each, outcome in zip(events, pool.map(self._try_put, events), strict=True):
                if isinstance(outcome, SinkError):
                    problem = outcome
                else:
                    kept[each.index] = each.key
        if problem is not None:
            raise problem

    def list(self, prefix: str = "") -> Iterator[str]:
        """Yield the keys that begin with the prefix, by producer, oldest day first.

        Raises:
            SinkError: the bucket cannot be listed.
        """
        pages = self._s3.get_paginator("list_objects_v2")
        with self._translated("listed", prefix):
            for page in pages.paginate(Bucket=self._bucket, Prefix=prefix):
                yield from (each["Key"] for each in page.get("Contents", ()))

    def list_producers(self) -> tuple[str, ...]:
        """Return the names of the producer functions that have events in the bucket.

        Raises:
            SinkError: the bucket cannot be listed.
        """
        pages = self._s3.get_paginator("list_objects_v2")
        with self._translated("listed", ""):
            return tuple(
                each["Prefix"].removesuffix("/")
                for page in pages.paginate(Bucket=self._bucket, Delimiter="/")
                for each in page.get("CommonPrefixes", ())
            )

    def count(self, function: str, most: int) -> int:
        """Return the number of events of a producer, and `most` for more: a call for 1,000 keys.

        Raises:
            SinkError: the bucket cannot be listed.
        """
        return sum(1 for _ in islice(self.list(f"{function}/"), most))

    def read(self, key: str) -> RejectedEvent:
        """Read one event.

        Raises:
            SinkError: the object cannot be read.
            ValueError: the object is not a rejected event.
        """
        with self._translated("read", key):
            content = self._s3.get_object(Bucket=self._bucket, Key=key)["Body"].read()
        return RejectedEvent.read(content)

    def delete(self, key: str) -> None:
        """Delete one event, if it is there.

        Raises:
            SinkError: the object cannot be deleted.
        """
        with self._translated("deleted", key):
            self._s3.delete_object(Bucket=self._bucket, Key=key)

    def _try_put(self, event: RejectedEvent) -> SinkError | None:
        try:
            with self._translated("written", event.key):
                self._s3.put_object(
                    Bucket=self._bucket,
                    Key=event.key,
                    Body=event.write(),
                    ContentType="application/json",
                )
        except SinkError as error:
            return error
        return None

    def _translated(self, what: str, key: str) -> AbstractContextManager[None]:
        return translated_s3_errors(f"s3://{self._bucket}/{key} cannot be {what}")
