"""The first record of a producer makes its topic, by a right to that one topic alone."""

from __future__ import annotations

import secrets
from contextlib import closing

import pytest

from penstock.errors import TopicForbiddenError
from penstock.kafka import Security, Topic, apply_topics
from penstock.kafka.topics import open_admin
from penstock.producing import Outcome, Produced, ProducerSettings, Refusal, Stamper
from penstock.producing.producer import build_event_producer
from penstock.records import READING
from systems.clusters import ANONYMOUS, PRODUCER, Brokers, logged_in

pytestmark = pytest.mark.kafka


def _produce(brokers: Brokers, topic: str, *, create_topic: bool = True) -> Outcome:
    settings = ProducerSettings(
        brokers.settings(Security.TLS),
        "memory://",
        topic=topic,
        topic_partitions=2,
        topic_replicas=2,
    )
    producer = build_event_producer(settings, create_topic=create_topic)
    (outcome,) = producer.produce([Stamper(READING, "000001").stamp({})], 30)
    return outcome


def test_the_first_record_makes_its_topic_as_terraform_would(brokers: Brokers) -> None:
    name = f"first-{secrets.token_hex(4)}"
    for right in ("CREATE", "DESCRIBE", "WRITE"):
        brokers.allow(ANONYMOUS, name, right)

    made, written = _produce(brokers, name), _produce(brokers, name)

    assert isinstance(made, Produced), made
    assert isinstance(written, Produced), written
    with logged_in(brokers, PRODUCER):
        declared = [Topic(name, partitions=2, replicas=2)]
        assert apply_topics(brokers.settings(Security.IAM), declared) == ()


def test_no_topic_is_made_without_the_right_to_it(brokers: Brokers) -> None:
    name = f"first-{secrets.token_hex(4)}"
    brokers.allow(ANONYMOUS, name, "DESCRIBE")

    outcome = _produce(brokers, name)

    assert isinstance(outcome, Refusal)
    assert isinstance(outcome.error, TopicForbiddenError)
    assert str(outcome.error).startswith(f"topic {name!r} cannot be created: ")


def test_a_misspelt_topic_is_not_made_and_the_nearest_is_named(brokers: Brokers) -> None:
    name = brokers.create_topic()
    brokers.allow(ANONYMOUS, name, "CREATE", "DESCRIBE", "WRITE")
    brokers.allow(ANONYMOUS, f"{name}s", "CREATE", "DESCRIBE", "WRITE")

    outcome = _produce(brokers, f"{name}s", create_topic=False)

    assert isinstance(outcome, Refusal)
    assert str(outcome.error) == (
        f"topic '{name}s' does not exist, and the nearest is {name!r}: expected a topic that "
        "exists, or --create-topic"
    )
    with logged_in(brokers, PRODUCER), closing(open_admin(brokers.settings(Security.IAM))) as admin:
        assert f"{name}s" not in admin.list_topics()
