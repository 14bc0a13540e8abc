"""Rejected events: events that were not written to Kafka, kept on S3 until they are replayed."""

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

from penstock.aws import translated_s3_errors
from penstock.credentials import load_session
from penstock.errors import SinkError
from penstock.producing.requests import is_api_call, split_request
from penstock.schemas import read_number, scan_value, write_value

_WRITERS = 8
# Lambda puts events of asynchronous invocations that failed below this path, in a form of its own.
_FAILED_INVOCATIONS = "aws/lambda/"
_NO_DOCUMENT = "no document of a rejected event"
_KINDS = {dict: "an object", int: "a number", list: "a list", str: "a string"}


@dataclass(frozen=True, slots=True)
class RejectedEvent:
    """An event that was not written, with the reason and the invocation that sent it.

    Attributes:
        event: the event, or with `is_request` a whole request whose events could not be read.
        base: the base fields that the producer added to the event.
        timestamp: the time at which the producer received the event, in milliseconds since 1970.
        reason: the name of the error's class.
        detail: the error's message.
        rule: the rule that the event breaks; empty if it breaks none.
        diff: the changes to the schema that were refused.
        function: the name of the producer's Lambda function.
        request_id: the id of the invocation.
        index: the number of the event in the invocation.
        is_request: whether `event` is a whole request.
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
    def received_at(self) -> str:
        """The time at which the producer received the event, in ISO 8601 and UTC."""
        return datetime.fromtimestamp(self.timestamp / 1000, UTC).isoformat(timespec="milliseconds")

    @property
    def key(self) -> str:
        """The object's key: the producer, the day, and an id that retries have in common.

        Lambda retries an asynchronous invocation twice, under the same request id. A retry after
        midnight writes a second object, so the event is replayed twice and not lost.
        """
        day = self.received_at[:10].replace("-", "/")
        return f"{self.function}/{day}/{self.request_id}-{self.index}.json"

    def with_base(self) -> Any:
        """Return the event as it is sent again, with the base fields that the producer added."""
        if not isinstance(self.event, dict):
            return self.event
        return {**self.base, **self.event}

    def list_events(self) -> list[Any]:
        """Return the events to send again: those of a request, else only this event.

        An event of a request that has no time gets the time at which the request was received, and
        each later event one more millisecond, because the producer adds increasing times.

        Raises:
            ValueError: the request is the call of an API without a body.
        """
        if not self.is_request:
            return [self.with_base()]
        if is_api_call(self.event):
            raise ValueError(
                "found the call of an API without a body, expected events; delete it by hand"
            )
        return [
            {**self._make_base(number), **event} if isinstance(event, dict) else event
            for number, event in enumerate(split_request(self.event))
        ]

    def _make_base(self, number: int) -> dict[str, Any]:
        """Return the base fields of the event with this number in a request."""
        return {
            name: value + number if value == self.timestamp else value
            for name, value in self.base.items()
        }

    def write(self) -> bytes:
        """Return the rejected event as a JSON document."""
        document = {
            "event": self.event,
            "base": dict(self.base),
            "stampedAt": self.timestamp,
            "when": self.received_at,
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
            return json.dumps(document | {"event": _shorten_event(self.event)}).encode()

    @classmethod
    def read(cls, content: bytes) -> RejectedEvent:
        """Return the rejected event of a JSON document.

        Raises:
            ValueError: the content is not the document of a rejected event.
        """
        try:
            found = json.loads(content, parse_float=read_number)
            if not isinstance(found, dict):
                raise ValueError(f"found {found!r:.40}, expected an object")
            event = cls(
                _read_field(found, "event"),
                _read_field(found, "base", dict),
                _read_field(found, "stampedAt", int),
                _read_field(found, "reason", str),
                _read_field(found, "detail", str),
                _read_field(found, "rule", str),
                _read_texts(found, "diff"),
                _read_field(found, "function", str),
                _read_field(found, "requestId", str),
                _read_field(found, "index", int),
                bool(found.get("isRequest")),
            )
            _check_time(event)
        except UnicodeDecodeError as error:
            raise ValueError(f"{_NO_DOCUMENT}: it is not text in UTF-8") from error
        except RecursionError as error:
            raise ValueError(f"{_NO_DOCUMENT}: it nests too deep to be read") from error
        except ValueError as error:
            raise ValueError(f"{_NO_DOCUMENT}: {error}") from error
        return event


def write_events(events: Sequence[Any]) -> str:
    """Return a short JSON list of events; one that is JSON text already is not encoded again.

    Only halves of characters are escaped, as UTF-8 does not have them.
    """
    text = f"[{','.join(map(_write_event, events))}]"
    return text.encode(errors="backslashreplace").decode()


def _write_event(event: Any) -> str:
    if isinstance(event, str):
        try:
            if scan_value(event, 0)[1] == len(event):
                return event
        except (ValueError, RecursionError):  # it is not JSON
            pass
    return write_value(event, ensure_ascii=False, separators=(",", ":"))


def _shorten_event(event: Any) -> str:
    try:
        return repr(event)
    except RecursionError:
        return "(an event with objects and lists too deep to be written)"


def _read_field(found: Mapping[str, Any], name: str, kind: type = object) -> Any:
    if name not in found:
        raise ValueError(f"the field {name} is missing")
    value = found[name]
    if kind is not object and type(value) is not kind:
        raise ValueError(f"{name} is {value!r:.40}, expected {_KINDS[kind]}")
    return value


def _read_texts(found: Mapping[str, Any], name: str) -> tuple[str, ...]:
    values = _read_field(found, name, list)
    if not all(isinstance(value, str) for value in values):
        raise ValueError(f"{name} is {values!r:.40}, expected strings")
    return tuple(values)


def _check_time(event: RejectedEvent) -> None:
    try:
        _ = event.received_at
    except (ArithmeticError, OSError, ValueError) as error:
        raise ValueError(f"stampedAt is {event.timestamp}, expected a time") from error


class RejectedEvents:
    """The bucket of rejected events; the client is built at the first use."""

    def __init__(self, bucket: str) -> None:
        self._bucket = bucket

    @cached_property
    def _s3(self) -> Any:
        """The S3 client; most environments have no rejected event and never build it."""
        with self._translated("opened", ""):
            # The import takes a tenth of a second.
            from botocore.config import Config  # noqa: PLC0415

            config = Config(
                connect_timeout=1,
                read_timeout=2,
                max_pool_connections=_WRITERS,
                retries={"mode": "standard", "total_max_attempts": 2},
            )
            return load_session().create_client("s3", config=config)

    def keep(self, events: Sequence[RejectedEvent], kept: dict[int, str]) -> None:
        """Write events, and add the key of each event that is there to `kept`, by its number.

        An event that is there stays, with the first time of arrival.

        Raises:
            SinkError: the error of the last event that could not be written.
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
        """Yield the keys of events that begin with the prefix, by producer, oldest day first.

        Raises:
            SinkError: the bucket cannot be listed.
        """
        pages = self._s3.get_paginator("list_objects_v2")
        with self._translated("listed", prefix):
            for page in pages.paginate(Bucket=self._bucket, Prefix=prefix):
                for each in page.get("Contents", ()):
                    if not each["Key"].startswith(_FAILED_INVOCATIONS):
                        yield each["Key"]

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
                if not _FAILED_INVOCATIONS.startswith(each["Prefix"])
            )

    def count(self, function: str, most: int) -> int:
        """Return the number of events of a producer, and `most` for more: a call for 1,000 keys.

        Raises:
            SinkError: the bucket cannot be listed.
        """
        return sum(1 for _ in islice(self.list(f"{function}/"), most))

    def read(self, key: str) -> RejectedEvent:
        """Return the event with this key.

        Raises:
            SinkError: the object cannot be read.
            ValueError: the object is not a rejected event.
        """
        with self._translated("read", key):
            content = self._s3.get_object(Bucket=self._bucket, Key=key)["Body"].read()
        try:
            return RejectedEvent.read(content)
        except ValueError as error:
            place = f"s3://{self._bucket}/{key}"
            raise ValueError(f"{error}; mend or delete {place} by hand") from error

    def rewrite(self, key: str, event: RejectedEvent) -> None:
        """Write an event in place of the one with this key.

        Raises:
            SinkError: the object cannot be written.
        """
        self._put(key, event)

    def delete(self, key: str) -> None:
        """Delete the event with this key, if it exists.

        Raises:
            SinkError: the object cannot be deleted.
        """
        with self._translated("deleted", key):
            self._s3.delete_object(Bucket=self._bucket, Key=key)

    def _try_put(self, event: RejectedEvent) -> SinkError | None:
        try:
            self._put(event.key, event, IfNoneMatch="*")
        except FileExistsError:
            return None
        except SinkError as error:
            return error
        return None

    def _put(self, key: str, event: RejectedEvent, **condition: str) -> None:
        with self._translated("written", key):
            self._s3.put_object(
                Bucket=self._bucket,
                Key=key,
                Body=event.write(),
                ContentType="application/json",
                **condition,
            )

    def _translated(self, action: str, key: str) -> AbstractContextManager[None]:
        return translated_s3_errors(f"s3://{self._bucket}/{key} cannot be {action}")
