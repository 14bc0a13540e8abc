"""A producer whose topic and registry are in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from penstock.kafka import KafkaSettings, Security
from penstock.producing import EventProducer, Outcome, Produced, ProducerSettings, Refusal, Stamper
from penstock.records import READING
from penstock.registry import CachedRegistry
from penstock.registry.memory import MemoryRegistry
from tests.stubs.topic import FakeTopic

Build = Callable[..., EventProducer]
KAFKA = KafkaSettings(("127.0.0.1:9",), Security.PLAINTEXT)


@pytest.fixture
def topic() -> Iterator[FakeTopic]:
    """The topic that producers write to."""
    topic = FakeTopic()
    with topic.in_place():
        yield topic


@pytest.fixture
def registry() -> CachedRegistry:
    """The registry that all producers of a test share."""
    return CachedRegistry(MemoryRegistry())


@pytest.fixture
def build(registry: CachedRegistry, topic: FakeTopic) -> Build:
    """Build a producer, with changes to its settings."""

    def build(**changes: Any) -> EventProducer:
        settings = ProducerSettings(KAFKA, "memory://", **changes)
        return EventProducer(settings, registry, topic, create_topic=True)  # type: ignore[arg-type]

    return build


@pytest.fixture
def producer(build: Build) -> EventProducer:
    """A producer with the settings that are the default."""
    return build()


def send(producer: EventProducer, *events: Any, seconds: float = 90) -> list[Outcome]:
    """Send events as a batch of device 000001."""
    stamper = Stamper(READING, "000001")
    return producer.produce([stamper.stamp(event) for event in events], seconds)


def written(producer: EventProducer, *events: Any) -> list[dict[str, Any]]:
    """Send events that are all to be written, and describe what they became."""
    outcomes = send(producer, *events)
    assert all(isinstance(each, Produced) for each in outcomes), outcomes
    return [each.describe() for each in outcomes if isinstance(each, Produced)]


def refused(producer: EventProducer, event: Any, **more: Any) -> Refusal:
    """Send an event that is to be refused."""
    (outcome,) = send(producer, event, **more)
    assert isinstance(outcome, Refusal)
    return outcome
