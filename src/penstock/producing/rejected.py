"""Events that were not written, whole, until somebody sends them again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from botocore.config import Config

from penstock.aws import translated_s3_errors
from penstock.credentials import load_session
from penstock.errors import SinkError

_WRITERS = 8
_CONFIG = Config(
    connect_timeout=1,
    read_timeout=2,
    max_pool_connections=_WRITERS,
    retries={"mode": "standard", "total_max_attempts": 2},
)


@dataclass(frozen=True, slots=True)
class RejectedEvent:
    """One event as it is kept, and all that is known about why it was not written."""

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

    @property
    def when(self) -> str:
        """When it was refused, which is also the time that it is sent with again."""
        return datetime.fromtimestamp(self.timestamp / 1000, UTC).isoformat(timespec="milliseconds")

    @property
    def key(self) -> str:
        """Its place by date; the same when Lambda brings an event again, which it does twice."""
        return f"{self.when[:10].replace('-', '/')}/{self.request_id}-{self.index}.json"

    def again(self) -> Any:
        """Return the event to send again, with the base fields that it was refused with."""
        if not isinstance(self.event, dict):
            return self.event
        return {**self.base, **self.event}

    def write(self) -> bytes:
        """Write it as one JSON document."""
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
        }
        try:
            return json.dumps(document, allow_nan=False).encode()
        except (ValueError, RecursionError):  # numbers that JSON has not, or too deep for it
            return json.dumps(document | {"event": repr(self.event)}).encode()

    @classmethod
    def read(cls, content: bytes) -> RejectedEvent:
        """Read the document; ValueError where it is none."""
        try:
            found = json.loads(content)
            return cls(
                found["event"],
                found["base"],
                found["stampedAt"],
                found["reason"],
                found["detail"],
                found["rule"],
                tuple(found["diff"]),
                found["function"],
                found["requestId"],
                found["index"],
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"no document of a rejected event: {error!r}") from error


class RejectedEvents:
    """The bucket that they are in."""

    def __init__(self, bucket: str) -> None:
        """Keep its name; nothing is called yet."""
        self._bucket = bucket

    @cached_property
    def _s3(self) -> Any:
        """Built with the first event that is refused, which most environments never see."""
        return load_session().create_client("s3", config=_CONFIG)

    def keep(self, events: Sequence[RejectedEvent], kept: dict[int, str]) -> None:
        """Write events, and note under its number in the batch where each one is.

        Raises:
            SinkError: the last that could not be written is the reason given.
        """
        _ = self._s3  # clients are built by one thread at a time
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
        """Give the keys that begin so, oldest day first."""
        pages = self._s3.get_paginator("list_objects_v2")
        with self._translated("listed", prefix):
            for page in pages.paginate(Bucket=self._bucket, Prefix=prefix):
                yield from (each["Key"] for each in page.get("Contents", ()))

    def read(self, key: str) -> RejectedEvent:
        """Read one; ValueError where the object is something else."""
        with self._translated("read", key):
            content = self._s3.get_object(Bucket=self._bucket, Key=key)["Body"].read()
        return RejectedEvent.read(content)

    def delete(self, key: str) -> None:
        """Delete one, which need not be there."""
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
