"""Every way to log in carries a record to real brokers and back."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from penstock.errors import BrokerError
from penstock.kafka import (
    Delivery,
    KafkaSettings,
    Message,
    Security,
    Topic,
    ensure_topic,
    open_consumer,
    open_producer,
)
from systems.clusters import (
    ANONYMOUS,
    PRODUCER,
    Brokers,
    at_last,
    logged_in,
    open_patient_producer,
    read_to_end,
)

pytestmark = pytest.mark.kafka


def _send_and_read(settings: KafkaSettings, topic: str) -> None:
    with open_patient_producer(settings) as producer:
        first = producer.send(topic, b"first", key=b"k", headers=[("h", b"1")])
        second = producer.send(topic, None, key=b"k")
    with at_last(lambda: open_consumer(settings, topic)) as consumer:
        records = read_to_end(consumer)

    assert [(r.topic, r.partition, r.offset) for r in records] == [
        (d.topic, d.partition, d.offset) for d in (first, second)
    ]
    assert [(r.key, r.value) for r in records] == [(b"k", b"first"), (b"k", None)]
    assert list(records[0].headers) == [("h", b"1")]


@pytest.mark.parametrize("security", [Security.PLAINTEXT, Security.TLS])
def test_without_a_login(brokers: Brokers, security: Security) -> None:
    topic = brokers.create_topic()
    brokers.allow(ANONYMOUS, topic, "READ", "WRITE")

    _send_and_read(brokers.settings(security), topic)


def test_by_scram(brokers: Brokers, keep_secret: Callable[[str, str], str]) -> None:
    topic = brokers.create_topic()
    brokers.set_user("alice", "alice-password")
    brokers.allow("alice", topic, "READ", "WRITE")
    arn = keep_secret("alice", "alice-password")

    _send_and_read(brokers.settings(Security.SCRAM, secret_arn=arn), topic)


def test_by_iam(brokers: Brokers) -> None:
    topic = brokers.create_topic()

    with logged_in(brokers, PRODUCER):
        _send_and_read(brokers.settings(Security.IAM), topic)


def test_many_records_have_a_place_each(brokers: Brokers) -> None:
    topic = brokers.create_topic()
    messages = [Message(topic, b"%d" % n, key=b"%d" % (n % 7)) for n in range(1_000)]

    settings = brokers.settings(Security.IAM)

    with logged_in(brokers, PRODUCER), open_patient_producer(settings) as producer:
        outcomes = producer.send_all(messages)

    assert all(isinstance(outcome, Delivery) for outcome in outcomes)
    assert len(set(outcomes)) == 1_000
    partitions = {m.key: o.partition for m, o in zip(messages, outcomes, strict=True)}
    assert all(partitions[m.key] == o.partition for m, o in zip(messages, outcomes, strict=True))


def test_batches_that_are_larger_than_the_topic_accepts_are_split(
    brokers: Brokers, name: str
) -> None:
    limit = {"max.message.bytes": "20000"}
    settings = brokers.settings(Security.IAM)

    with logged_in(brokers, PRODUCER):
        ensure_topic(settings, Topic(name, partitions=1, properties=limit))
        with open_patient_producer(settings) as producer:
            outcomes = producer.send_all([Message(name, b"%0300d" % n) for n in range(2_000)])
        with at_last(lambda: open_consumer(settings, name)) as consumer:
            records = read_to_end(consumer)

    assert outcomes == [Delivery(name, 0, offset) for offset in range(2_000)]
    assert [int(record.value) for record in records] == list(range(2_000))


def test_a_group_goes_on_where_it_committed(brokers: Brokers) -> None:
    topic = brokers.create_topic(partitions=1)
    settings = brokers.settings(Security.IAM)

    with logged_in(brokers, PRODUCER):
        with open_patient_producer(settings) as producer:
            producer.send(topic, b"before")
            with at_last(lambda: open_consumer(settings, topic, group_id=topic)) as consumer:
                assert [record.value for record in read_to_end(consumer)] == [b"before"]
                consumer.commit()
            producer.send(topic, b"after")
        with at_last(lambda: open_consumer(settings, topic, group_id=topic)) as consumer:
            assert [record.value for record in read_to_end(consumer)] == [b"after"]


def test_a_consumer_without_topics_looks_up_the_first_offsets(brokers: Brokers) -> None:
    topic = brokers.create_topic(partitions=1)

    with logged_in(brokers, PRODUCER):
        with open_patient_producer(brokers.settings(Security.IAM)) as producer:
            producer.send(topic, b"first")
        with at_last(lambda: open_consumer(brokers.settings(Security.IAM))) as consumer:
            found = consumer.find_earliest([(topic, 0), (topic, 1), ("no-such", 0)])

    assert found == {(topic, 0): 0}


def test_a_login_is_renewed_before_its_credentials_end(brokers: Brokers) -> None:
    topic = brokers.create_topic(partitions=1)

    # A machine that is too busy to log in while credentials last gets some that last longer.
    assert any(_renews(brokers, topic, seconds) for seconds in (8, 30, 90))


def _renews(brokers: Brokers, topic: str, seconds: int) -> bool:
    """Return whether a producer logged in again before its first credentials ended."""
    ends = datetime.now(UTC) + timedelta(seconds=seconds)
    with logged_in(brokers, replace(PRODUCER, expires_at=ends)) as access_key:
        try:
            producer = open_producer(brokers.settings(Security.IAM), deadline_seconds=30.0)
        except BrokerError:
            return False
        with producer:
            producer.send(topic, b"before")
            logins = brokers.logins[access_key]
            brokers.keys[access_key] = PRODUCER  # as after a renewal of the role's credentials
            while brokers.logins[access_key] == logins and datetime.now(UTC) < ends:
                producer.send(topic, b"meanwhile")
                time.sleep(0.05)
            is_renewed = datetime.now(UTC) < ends
            producer.send(topic, b"after")
    return is_renewed
