"""Senders: threads that give events to the producer function, and one that writes records itself.

A sender waits for each answer before its next request, so that the order of its events is known.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from random import Random
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError
from kafka import KafkaProducer
from kafka.errors import KafkaError

from campaign.events import Events, make_harm, make_mended
from campaign.history import Fate, Sent
from campaign.workers import Worker
from localcloud.testing import invoke

_MOST_EVENTS: Final = 4  # of a request
_PAUSES: Final = (0.05, 0.5)
_HARM_SECONDS: Final = 1.5
_SEND_SECONDS: Final = 60
_Made = tuple[Mapping[str, Any], bool]  # an event, and whether it contradicts no other one


class Fields:
    """The number of fields that events may have, which grows."""

    def __init__(self) -> None:
        self.level = 1

    def grow(self) -> str:
        """Let events have one field more from now on, and return its name."""
        self.level += 1
        return f"f{self.level - 1}"


class Pace:
    """The pauses between the requests of a sender: random ones, none, or those of a rate."""

    def __init__(self) -> None:
        self.rate: float | None = None  # events a second of each sender, which may be infinite
        self._next = 0.0

    def choose_pause(self, rng: Random, count: int, now: float) -> float:
        """Return the seconds until a request of so many events; a late one is not made up for."""
        if self.rate is None:
            return rng.uniform(*_PAUSES)
        due = max(now, self._next)
        self._next = due + count / self.rate
        return due - now


class Sender(Worker):
    """Sends requests of a few events until it is stopped; `sent` has the fate of each event."""

    def __init__(self, name: str, rng: Random, fields: Fields, client: Any, function: str) -> None:
        super().__init__(name)
        self.sent: list[Sent] = []
        self.pace = Pace()
        self._rng, self._fields = rng, fields
        self._events = Events(name, rng)
        self._client, self._function = client, function

    def work(self) -> None:
        """Send until stopped."""
        while True:
            count = self._rng.randint(1, _MOST_EVENTS)
            if self._stopped.wait(self.pace.choose_pause(self._rng, count, time.monotonic())):
                return
            self.send(count)

    def send(self, count: int) -> None:
        """Send one request."""
        made = [self._events.make(self._fields.level) for _ in range(count)]
        try:
            answer, error = invoke(
                lambda _: self._client, self._function, [event for event, _ in made]
            )
        except (BotoCoreError, ClientError) as failure:
            answer, error = str(failure), "no answer"
        self.sent += _read_fates(made, answer, error)


def _read_fates(made: Sequence[_Made], answer: Any, error: str | None) -> list[Sent]:
    if error:
        return [Sent(*each, Fate.UNKNOWN, reason=str(answer)) for each in made]
    try:
        return [_read_fate(*each, item) for each, item in zip(made, answer, strict=True)]
    except (AttributeError, KeyError, TypeError, ValueError) as misfit:
        reason = f"{type(misfit).__name__}: {misfit}, in {answer!r:.200}"
        return [Sent(*each, Fate.UNCLEAR, reason=reason) for each in made]


def _read_fate(event: Mapping[str, Any], fits: bool, item: Mapping[str, Any]) -> Sent:
    if told := item.get("error"):
        is_final = told["type"] == "RejectedEventError"
        fate = Fate.REFUSED if is_final else Fate.UNDELIVERED
        reason = f"{told['reason']}: {told['message']}"
        return Sent(event, fits, fate, reason=reason, kept=told["kept"] or "")
    return Sent(event, fits, Fate.WRITTEN, "{topic}/{partition}/{offset}".format(**item))


class Stranger(Worker):
    """Writes records that no reader can make a row of, and some without a value.

    With `other`, a schema version of another registry and its id, it writes records that only a
    replay may read, too.
    """

    def __init__(
        self,
        rng: Random,
        servers: str,
        topic: str,
        versions: Callable[[], Mapping[str, str]],
        other: tuple[str, str] | None,
    ) -> None:
        super().__init__("stranger")
        self.hostile: dict[bytes, str] = {}
        self.mended: dict[bytes, Mapping[str, Any]] = {}
        self._rng, self._servers, self._topic = rng, servers, topic
        self._versions, self._other = versions, other

    def work(self) -> None:
        """Write until stopped."""
        number, versions = 0, self._versions()
        with closing(KafkaProducer(bootstrap_servers=self._servers, acks="all")) as producer:
            while not self._stopped.wait(_HARM_SECONDS):
                number += 1
                value, reason = make_harm(self._rng, number, versions)
                self.hostile[value] = reason  # it may be there, whatever the brokers answer
                records = [(b"harm", value), (b"harm", None)]
                if self._other:
                    records.append(self._make_mended(number, *self._other))
                try:
                    for key, each in records:
                        producer.send(self._topic, value=each, key=key).get(_SEND_SECONDS)
                except KafkaError:
                    time.sleep(1)

    def _make_mended(self, number: int, key: str, definition: str) -> tuple[bytes, bytes]:
        value, row = make_mended(self._rng, number, key, definition)
        self.hostile[value], self.mended[value] = "forbidden-schema", row
        return str(row["deviceId"]).encode(), value
