"""Topics become as they are wanted, or a sentence says why they cannot."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest
from kafka.admin import ConfigResource

from penstock.errors import (
    BrokerError,
    BrokerUnavailableError,
    TopicChangeError,
    TopicForbiddenError,
)
from penstock.kafka import Security, Topic, _connection, apply_topics, drop_topic, topics
from systems.clusters import ANONYMOUS, PRODUCER, Brokers, logged_in

pytestmark = pytest.mark.kafka


def apply(brokers: Brokers, *topics: Topic) -> tuple[str, ...]:
    with logged_in(brokers, PRODUCER):
        return apply_topics(brokers.settings(Security.IAM), topics)


def partitions_of(brokers: Brokers, name: str) -> int:
    with closing(brokers.cluster.open_admin()) as admin:
        return len(admin.describe_topics([name])[0]["partitions"])


def properties_of(brokers: Brokers, name: str) -> dict[str, str]:
    with closing(brokers.cluster.open_admin()) as admin:
        found = admin.describe_configs([ConfigResource("TOPIC", name)])["topic"][name]
    return {key: value["value"] for key, value in found.items()}


def test_a_missing_topic_is_created(brokers: Brokers, name: str) -> None:
    topic = Topic(name, partitions=2, properties={"retention.ms": "3600000"})

    assert apply(brokers, topic) == (f"topic {name!r} was created",)
    assert apply(brokers, topic) == ()
    assert partitions_of(brokers, name) == 2
    assert properties_of(brokers, name) == {"retention.ms": "3600000"}


def test_broker_defaults_are_no_change(brokers: Brokers, name: str) -> None:
    apply(brokers, Topic(name))

    assert apply(brokers, Topic(name)) == ()


def test_partitions_grow(brokers: Brokers, name: str) -> None:
    apply(brokers, Topic(name, partitions=1))

    done = apply(brokers, Topic(name, partitions=4))

    assert done == (f"topic {name!r} went from 1 to 4 partitions",)
    assert partitions_of(brokers, name) == 4


def test_properties_are_changed_and_reset(brokers: Brokers, name: str) -> None:
    apply(brokers, Topic(name, properties={"retention.ms": "1000", "segment.ms": "2000"}))

    done = apply(brokers, Topic(name, properties={"retention.ms": "3000"}))

    assert done == (f"topic {name!r} has new properties",)
    assert properties_of(brokers, name) == {"retention.ms": "3000"}


def test_fewer_partitions_are_refused_before_anything_changes(brokers: Brokers, name: str) -> None:
    apply(brokers, Topic(name, partitions=3))
    other = f"{name}-other"

    message = rf"topic '{name}' has 3 partitions and cannot go down to 2: expected 3 or more"
    with pytest.raises(TopicChangeError, match=message):
        apply(brokers, Topic(other), Topic(name, partitions=2))

    with closing(brokers.cluster.open_admin()) as admin:
        assert other not in admin.list_topics()


def test_other_replicas_are_refused(brokers: Brokers, name: str) -> None:
    apply(brokers, Topic(name, replicas=2))

    message = rf"topic '{name}' has 2 replicas and 3 are wanted: expected 2"
    with pytest.raises(TopicChangeError, match=message):
        apply(brokers, Topic(name, replicas=3))


def test_an_unknown_property_is_rejected(brokers: Brokers, name: str) -> None:
    apply(brokers, Topic(name))

    message = rf"the properties of topic '{name}' cannot be set: .*colour"
    with pytest.raises(BrokerError, match=message):
        apply(brokers, Topic(name, properties={"colour": "red"}))


def test_a_principal_without_permission_cannot_add_partitions(brokers: Brokers) -> None:
    name = brokers.create_topic(partitions=1)
    brokers.allow(ANONYMOUS, name, "DESCRIBE")

    message = rf"topic '{name}' cannot grow to 2 partitions: .*AuthorizationFailed"
    with pytest.raises(TopicForbiddenError, match=message):
        apply_topics(brokers.settings(Security.TLS), [Topic(name, partitions=2)])


def test_a_principal_without_permission_cannot_set_properties(brokers: Brokers) -> None:
    name = brokers.create_topic(partitions=1)
    brokers.allow(ANONYMOUS, name, "DESCRIBE")

    message = rf"the properties of topic '{name}' cannot be set: .*AuthorizationFailed"
    with pytest.raises(TopicForbiddenError, match=message):
        apply_topics(brokers.settings(Security.TLS), [Topic(name, properties={"segment.ms": "9"})])


def test_partitions_that_are_missing_after_the_timeout_are_an_error(
    brokers: Brokers, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    apply(brokers, Topic(name, partitions=1))
    stale = {name: topics._Found(1, 3, {})}
    monkeypatch.setattr(topics, "_describe_topics", lambda admin, names: stale)

    message = f"topic '{name}' had no 2 partitions within 0.1 s"
    with logged_in(brokers, PRODUCER), pytest.raises(BrokerUnavailableError, match=message):
        apply_topics(
            brokers.settings(Security.IAM), [Topic(name, partitions=2)], timeout_seconds=0.1
        )


def test_a_topic_is_deleted_once(brokers: Brokers, name: str) -> None:
    apply(brokers, Topic(name))

    with logged_in(brokers, PRODUCER):
        assert drop_topic(brokers.settings(Security.IAM), name) is True
        assert drop_topic(brokers.settings(Security.IAM), name) is False


def test_a_principal_without_permission_cannot_delete(brokers: Brokers) -> None:
    name = brokers.create_topic()
    brokers.allow(ANONYMOUS, name, "DESCRIBE")

    with pytest.raises(TopicForbiddenError, match=rf"topic '{name}' cannot be deleted: "):
        drop_topic(brokers.settings(Security.TLS), name)


def test_a_topic_without_describe_permission(brokers: Brokers) -> None:
    name = brokers.create_topic()

    with pytest.raises(TopicForbiddenError, match=rf"topic '{name}' cannot be read: "):
        apply_topics(brokers.settings(Security.TLS), [Topic(name)])


def test_many_missing_topics_take_few_requests(
    brokers: Brokers, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = [Topic(f"{name}-{i}", partitions=1) for i in range(60)]
    logins: list[str] = []
    read = _connection.open_connection

    def count(server: str, *rest: Any) -> Any:
        logins.append(server)
        return read(server, *rest)

    monkeypatch.setattr(_connection, "open_connection", count)
    monkeypatch.setattr(topics, "_PAUSE_SECONDS", 1.0)

    done = apply(brokers, *wanted)

    assert done == tuple(f"topic {topic.name!r} was created" for topic in wanted)
    assert all(partitions_of(brokers, topic.name) == 1 for topic in (wanted[0], wanted[-1]))
    assert len(logins) < 60


def test_the_topic_that_cannot_be_created_is_named(brokers: Brokers, name: str) -> None:
    wide = f"{name}-wide"

    with pytest.raises(BrokerError, match=rf"topic '{wide}' cannot be created: .*only 3 broker"):
        apply(brokers, Topic(name, partitions=1), Topic(wide, replicas=9))

    assert apply(brokers, Topic(name, partitions=1)) == ()
