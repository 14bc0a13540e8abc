"""Senders: threads that give events to the producer function, and one that writes records itself.

A sender waits for each answer before its next request, so that the order of its events is known.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from random import Random
from threading import Event, Thread
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError
from kafka import KafkaProducer
from kafka.errors import KafkaError

from campaign.events import Events, make_harm, make_mended
from campaign.history import Fate, Sent
from localcloud.testing import invoke

_MOST_EVENTS: Final = 4  # of a request
_PAUSES: Final = (0.05, 0.5)
_HARM_SECONDS: Final = 1.5
_SEND_SECONDS: Final = 60


class Fields:
    """The number of fields that events may have, which grows."""

    def __init__(self) -> None:
        self.level = 1

    def grow(self) -> None:
        """Let events have one field more from now on."""
        self.level += 1


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


class Sender(Thread):
    """Sends requests of a few events until it is stopped; `sent` has the fate of each event."""

    def __init__(self, name: str, rng: Random, fields: Fields, client: Any, function: str) -> None:
        super().__init__(name=name, daemon=True)
        self.sent: list[Sent] = []
        self.pace = Pace()
        self._rng, self._fields = rng, fields
        self._events = Events(name, rng)
        self._client, self._function = client, function
        self._stopped = Event()

    def run(self) -> None:
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

    def stop(self) -> None:
        """Send no more."""
        self._stopped.set()


def _read_fates(
    made: Iterable[tuple[Mapping[str, Any], bool]], answer: Any, error: str | None
) -> Iterator[Sent]:
    if error:
        yield from (Sent(event, fits, Fate.UNKNOWN, reason=str(answer)) for event, fits in made)
        return
    for (event, fits), item in zip(made, answer, strict=True):
        if told := item.get("error"):
            is_final = told["type"] == "RejectedEventError"
            fate = Fate.REFUSED if is_final else Fate.UNDELIVERED
            reason = f"{told['reason']}: {told['message']}"
            yield Sent(event, fits, fate, reason=reason, kept=told["kept"] or "")
        else:
            place = "{topic}/{partition}/{offset}".format(**item)
            yield Sent(event, fits, Fate.WRITTEN, place)


class Stranger(Thread):
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
        super().__init__(name="stranger", daemon=True)
        self.hostile: dict[bytes, str] = {}
        self.mended: dict[bytes, Mapping[str, Any]] = {}
        self._rng, self._servers, self._topic = rng, servers, topic
        self._versions, self._other = versions, other
        self._stopped = Event()

    def run(self) -> None:
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

    def stop(self) -> None:
        """Write no more."""
        self._stopped.set()
