"""A topic in memory, instead of Kafka."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from penstock.errors import BrokerError, PenstockError, TopicNotFoundError
from penstock.framing import decode_frame
from penstock.kafka import Delivery, KafkaSettings, Message, Topic
from penstock.registry import SchemaRegistry
from penstock.schemas import decode_event


@dataclass
class FakeTopic:
    """What was written to a topic, what was asked for it, and what breaks."""

    records: list[Message] = field(default_factory=list)
    created: list[Topic] = field(default_factory=list)
    is_there: bool = False
    failure: PenstockError | None = None
    refused: dict[int, BrokerError] = field(default_factory=dict)  # by number in the batch
    hanging: threading.Event | None = None

    def connect(self, topics: Sequence[str]) -> None:
        """Fail as a client of brokers does that do not have the topic."""
        if not self.is_there:
            raise TopicNotFoundError(f"topic {topics[0]!r} does not exist")

    def send_all(
        self, messages: Sequence[Message], *, seconds: float
    ) -> list[Delivery | BrokerError]:
        """Take records, or some of them, or hang, or fail."""
        if self.hanging:
            self.hanging.wait(30)
        if self.failure:
            raise self.failure
        if not self.is_there:
            raise TopicNotFoundError(f"topic {messages[0].topic!r} does not exist")
        return [self.refused.get(i) or self._write(each) for i, each in enumerate(messages)]

    def _write(self, message: Message) -> Delivery:
        self.records.append(message)
        return Delivery(message.topic, 0, len(self.records) - 1)

    def events(self, registry: SchemaRegistry) -> list[dict[str, Any]]:
        """Read all events as a consumer does."""
        return [_read(registry, message.value or b"") for message in self.records]

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Have topics made here."""
        with patch("penstock.producing.producer.ensure_topic", self._make):
            yield

    def _make(self, settings: KafkaSettings, topic: Topic, *, timeout_seconds: float) -> None:
        self.created.append(topic)
        self.is_there = True


def _read(registry: SchemaRegistry, value: bytes) -> dict[str, Any]:
    frame = decode_frame(value)
    assert frame is not None
    schema = registry.get(frame.key).schema
    return decode_event(frame.payload, schema)
