"""A topic in memory, and the producer that writes to it through the weather."""

from __future__ import annotations

import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from penstock.errors import BrokerError, BrokerUnavailableError, DeliveryError
from penstock.kafka import Delivery, Message
from penstock.records import Record, Source
from tests.simulation.weather import Trouble, Weather

SERVICE = "kafka"
_UNSURE = {Trouble.CUT, Trouble.FAILED, Trouble.LATE}


@dataclass
class SimulatedTopic:
    """A topic whose records have the times of their producers; the last partition comes late."""

    name: str
    partitions: int
    grows_at: float = 0.0
    records: list[list[Record]] = field(init=False)

    def __post_init__(self) -> None:
        """Begin with empty partitions."""
        self.records = [[] for _ in range(self.partitions)]

    def append(self, key: bytes, value: bytes | None) -> Delivery:
        """Append a record to the partition of its key."""
        is_grown = time.monotonic() >= self.grows_at
        number = zlib.crc32(key) % (self.partitions if is_grown else self.partitions - 1)
        held = self.records[number]
        source = Source(self.name, number, len(held))
        held.append(Record(source, key, value, (), int(time.time() * 1_000)))
        return Delivery(self.name, number, source.offset)

    def all_records(self) -> list[Record]:
        """Return all records, by partition and offset."""
        return [record for partition in self.records for record in partition]


@dataclass
class SimulatedProducer:
    """A producer of one environment: a send that is not acknowledged may have happened."""

    topic: SimulatedTopic
    weather: Weather

    def send_all(
        self, messages: Sequence[Message], *, seconds: float
    ) -> list[Delivery | BrokerError]:
        """Send messages, in order; nothing is written after the time is over."""
        until = time.monotonic() + seconds
        trouble = self.weather.call(SERVICE)
        if trouble in {Trouble.LOST, Trouble.DENIED, Trouble.THROTTLED, Trouble.ODD}:
            raise BrokerUnavailableError("no broker answers")
        if time.monotonic() > until:
            raise DeliveryError("not acknowledged in time")
        sent: list[Delivery | BrokerError] = []
        for message in messages:
            delivery = self.topic.append(message.key or b"", message.value)
            is_unsure = trouble in _UNSURE and self.weather.happens("acknowledgement lost", 0.5)
            sent.append(DeliveryError("it may or may not be written") if is_unsure else delivery)
        return sent
