"""A topic is created once and is usable, on every broker, when the call returns."""

from __future__ import annotations

import secrets
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from penstock.errors import BrokerError, TopicForbiddenError
from penstock.kafka import Security, Topic, ensure_topic, open_producer
from penstock.kafka.topics import open_admin
from systems.clusters import ANONYMOUS, PRODUCER, Brokers, logged_in

pytestmark = pytest.mark.kafka


def test_a_new_topic_is_as_asked_for(brokers: Brokers) -> None:
    settings = brokers.settings(Security.IAM)
    topic = Topic("as-asked", partitions=2, replicas=2, properties={"retention.ms": "3600000"})

    with logged_in(brokers, PRODUCER):
        assert ensure_topic(settings, topic) is True
        with closing(open_admin(settings)) as admin:
            (found,) = admin.describe_topics(["as-asked"])

    assert [len(partition["replica_nodes"]) for partition in found["partitions"]] == [2, 2]


def test_the_default_is_three_replicas(brokers: Brokers) -> None:
    name = brokers.create_topic(partitions=1)

    with closing(brokers.cluster.open_admin()) as admin:
        (found,) = admin.describe_topics([name])

    assert len(found["partitions"][0]["replica_nodes"]) == 3


def test_a_topic_that_exists_is_left_alone(brokers: Brokers) -> None:
    name = brokers.create_topic(partitions=1)
    settings = brokers.settings(Security.IAM)

    with logged_in(brokers, PRODUCER):
        assert ensure_topic(settings, Topic(name, partitions=5)) is False
        with closing(open_admin(settings)) as admin:
            (found,) = admin.describe_topics([name])

    assert len(found["partitions"]) == 1


def test_one_of_several_concurrent_callers_creates_the_topic(brokers: Brokers) -> None:
    settings = brokers.settings(Security.IAM)
    names = [f"race-{secrets.token_hex(4)}" for _ in range(3)]

    def use(name: str) -> bool:
        created = ensure_topic(settings, Topic(name, partitions=6))
        with open_producer(settings) as producer:
            producer.send(name, b"x")
        return created

    with logged_in(brokers, PRODUCER), ThreadPoolExecutor(4) as pool:
        for name in names:
            assert sorted(pool.map(use, [name] * 4)) == [False, False, False, True]


def test_a_principal_without_permission_cannot_create(brokers: Brokers) -> None:
    brokers.allow(ANONYMOUS, "not-yet", "DESCRIBE")

    with pytest.raises(TopicForbiddenError, match=r"topic 'not-yet' cannot be created: .*29"):
        ensure_topic(brokers.settings(Security.TLS), Topic("not-yet"))


def test_a_topic_that_the_brokers_cannot_create(brokers: Brokers) -> None:
    with logged_in(brokers, PRODUCER):
        with pytest.raises(BrokerError, match=r"topic 'wide' cannot be created: .*only 3 broker"):
            ensure_topic(brokers.settings(Security.IAM), Topic("wide", replicas=9))
