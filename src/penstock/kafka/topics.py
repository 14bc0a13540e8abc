"""Topics: create one and wait until every broker knows it, change it, delete it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from kafka import KafkaAdminClient
from kafka.admin import ConfigResource, ConfigResourceType
from kafka.errors import (
    KafkaError,
    NoError,
    TopicAlreadyExistsError,
    UnknownTopicOrPartitionError,
    for_code,
)

from penstock.errors import (
    BrokerError,
    BrokerUnavailableError,
    TopicChangeError,
    TopicForbiddenError,
    TopicNotFoundError,
)
from penstock.kafka._connection import PROBE_SECONDS, check_topic, read_metadata
from penstock.kafka._failures import translate, translated_kafka_errors
from penstock.kafka.login import client_options
from penstock.kafka.probe import ask_brokers, check_access
from penstock.kafka.settings import KafkaSettings

_PAUSE_SECONDS = 0.05
_BROKER_DEFAULT = -1
_TOPICS_AT_ONCE, _PARTITIONS_AT_ONCE = 50, 10_000  # Kafka refuses more partitions of a request
_TOPIC_CONFIG = "DYNAMIC_TOPIC_CONFIG"  # other sources are the brokers' configuration


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic to create; -1 leaves a number to the brokers' default."""

    name: str
    partitions: int = -1
    replicas: int = -1
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Found:
    """A topic on the brokers; `properties` are the ones set on the topic itself."""

    partitions: int
    replicas: int
    properties: Mapping[str, str]


def open_admin(settings: KafkaSettings) -> KafkaAdminClient:
    """Return kafka-python's admin client, logged in.

    Raises:
        BrokerError: no broker can be used; the subclass says why.
    """
    return _build_client(client_options(settings))


def ensure_topic(settings: KafkaSettings, topic: Topic, *, timeout_seconds: float = 15.0) -> bool:
    """Create the topic unless it exists, and wait until every broker knows it and its leaders.

    An existing topic is not changed.

    Returns:
        True if this call created the topic; it is true for one of several concurrent callers.

    Raises:
        TopicForbiddenError: the principal may not create the topic.
        BrokerUnavailableError: the topic was not usable in time.
        BrokerError: the brokers refuse the topic.
    """
    start = time.monotonic()
    options = client_options(settings)
    try:
        check_access(options, [topic.name])
        created = False
    except TopicNotFoundError:
        with closing(_build_client(options)) as admin:
            created = _create(admin, [topic]) == {topic.name}
    _await_leaders(options, [topic.name], timeout_seconds, start)
    return created


def name_nearest_topic(settings: KafkaSettings, name: str) -> TopicNotFoundError:
    """Return the error for a topic that does not exist, with the most similar one that does."""
    try:
        with closing(open_admin(settings)) as admin, translated_kafka_errors("no topic is listed"):
            found = sorted(admin.list_topics())
    except BrokerError:
        found = []  # the principal may see no topic
    nearest = get_close_matches(name, found, n=1, cutoff=0)
    said = f", and the nearest is {nearest[0]!r}" if nearest else ""
    return TopicNotFoundError(
        f"topic {name!r} does not exist{said}: expected a topic that exists, or --create-topic"
    )


def apply_topics(
    settings: KafkaSettings, topics: Iterable[Topic], *, timeout_seconds: float = 30.0
) -> tuple[str, ...]:
    """Create missing topics, and change existing ones to match.

    Properties that are set on a topic and no longer wanted return to the brokers' defaults. All
    topics are checked before the first is changed.

    Returns:
        The changes, in words, in the order of the topics.

    Raises:
        TopicChangeError: fewer partitions or another number of replicas are wanted; nothing
            was changed.
        BrokerError: a topic cannot be created or changed; the message says which and why.
    """
    asked = list(topics)
    done: list[str] = []
    options = client_options(settings)
    with closing(_build_client(options)) as admin:
        found = _describe_topics(admin, [topic.name for topic in asked])
        for topic in asked:
            if topic.name in found:
                _check(topic, found[topic.name])
        missing = [topic for topic in asked if topic.name not in found]
        for some in _divide(missing):
            _create(admin, some)
        for topic in asked:
            if topic.name in found:
                done += _change(admin, topic, found[topic.name], timeout_seconds)
            else:
                done.append(f"topic {topic.name!r} was created")
    if missing:
        names = [topic.name for topic in missing]
        _await_leaders(options, names, timeout_seconds, time.monotonic())
    return tuple(done)


def _divide(topics: Iterable[Topic]) -> Iterator[list[Topic]]:
    """Yield topics that one request may create."""
    some: list[Topic] = []
    partitions = 0
    for topic in topics:
        partitions += max(topic.partitions, 1)
        if some and (partitions > _PARTITIONS_AT_ONCE or len(some) == _TOPICS_AT_ONCE):
            yield some
            some, partitions = [], max(topic.partitions, 1)
        some.append(topic)
    if some:
        yield some


def drop_topic(settings: KafkaSettings, name: str) -> bool:
    """Delete a topic and its records; return whether it existed.

    Raises:
        BrokerError: the topic cannot be deleted.
    """
    problem = f"topic {name!r} cannot be deleted"
    with closing(open_admin(settings)) as admin, translated_kafka_errors(problem):
        answer = admin.delete_topics([name], raise_errors=False)["topics"][0]
    kind = for_code(answer["error_code"])
    if kind is UnknownTopicOrPartitionError:
        return False
    _raise_unless_done(kind, answer.get("error_message"), problem)
    return True


def _create(admin: KafkaAdminClient, topics: Sequence[Topic]) -> set[str]:
    """Create topics by one request; return the names of those that did not exist."""
    wanted = {
        topic.name: {
            "num_partitions": topic.partitions,
            "replication_factor": topic.replicas,
            "configs": topic.properties,
        }
        for topic in topics
    }
    with translated_kafka_errors(f"topic {topics[0].name!r} cannot be created"):
        answers = admin.create_topics(wanted, raise_errors=False)["topics"]
    created = set()
    for answer in answers:
        kind = for_code(answer["error_code"])
        if kind is not TopicAlreadyExistsError:
            problem = f"topic {answer['name']!r} cannot be created"
            _raise_unless_done(kind, answer["error_message"], problem)
            created.add(answer["name"])
    return created


def _await_leaders(
    options: dict[str, Any], names: list[str], timeout_seconds: float, start: float
) -> None:
    """Wait until every broker knows the topics and their leaders."""
    while (missing := _find_missing(options, names)) is not None:
        name, reason = missing
        if time.monotonic() > start + timeout_seconds:
            raise BrokerUnavailableError(
                f"topic {name!r} was not usable within {timeout_seconds:g} s: {reason}"
            )
        time.sleep(_PAUSE_SECONDS)


def _find_missing(options: dict[str, Any], names: list[str]) -> tuple[str, Exception] | None:
    """Ask every broker: the response to a creation comes before all of them know the topics."""
    name = names[0]
    try:
        for broker in ask_brokers(options, ()).brokers:
            deadline = time.monotonic() + PROBE_SECONDS
            server = f"{broker.host}:{broker.port}"
            for topic in read_metadata(server, options, names, deadline).topics:
                name = topic.name
                check_topic(topic)
                if any(partition.leader_id < 0 for partition in topic.partitions):
                    return name, BrokerUnavailableError(f"{server} knows no leader of a partition")
    except (TopicNotFoundError, BrokerUnavailableError) as error:
        return name, error
    return None


def _check(topic: Topic, found: _Found) -> None:
    if topic.partitions != _BROKER_DEFAULT and topic.partitions < found.partitions:
        raise TopicChangeError(
            f"topic {topic.name!r} has {found.partitions} partitions and cannot go down to "
            f"{topic.partitions}: expected {found.partitions} or more, or a topic of another name"
        )
    if topic.replicas not in {_BROKER_DEFAULT, found.replicas}:
        raise TopicChangeError(
            f"topic {topic.name!r} has {found.replicas} replicas and {topic.replicas} are wanted: "
            f"expected {found.replicas}, since replicas of a topic that exists are not moved"
        )


def _change(
    admin: KafkaAdminClient, topic: Topic, found: _Found, timeout_seconds: float
) -> list[str]:
    done = []
    if topic.partitions > found.partitions:
        _grow(admin, topic, timeout_seconds)
        done.append(
            f"topic {topic.name!r} went from {found.partitions} to {topic.partitions} partitions"
        )
    if dict(topic.properties) != found.properties:
        _set_properties(admin, topic, found)
        done.append(f"topic {topic.name!r} has new properties")
    return done


def _grow(admin: KafkaAdminClient, topic: Topic, timeout_seconds: float) -> None:
    problem = f"topic {topic.name!r} cannot grow to {topic.partitions} partitions"
    with translated_kafka_errors(problem):
        answer = admin.create_partitions({topic.name: topic.partitions}, raise_errors=False)
    result = answer.results[0]
    _raise_unless_done(for_code(result.error_code), result.error_message, problem)
    deadline = time.monotonic() + timeout_seconds
    while _describe_topics(admin, [topic.name])[topic.name].partitions < topic.partitions:
        if time.monotonic() > deadline:
            raise BrokerUnavailableError(
                f"topic {topic.name!r} had no {topic.partitions} partitions within "
                f"{timeout_seconds:g} s"
            )
        time.sleep(_PAUSE_SECONDS)


def _set_properties(admin: KafkaAdminClient, topic: Topic, found: _Found) -> None:
    gone = found.properties.keys() - topic.properties.keys()
    changes: dict[str, Any] = dict.fromkeys(gone, ("DELETE", None)) | dict(topic.properties)
    problem = f"the properties of topic {topic.name!r} cannot be set"
    resource = ConfigResource(ConfigResourceType.TOPIC, topic.name, changes)
    with translated_kafka_errors(problem):
        # Without the client's own check of names: the brokers' response says more.
        answer = admin.alter_configs([resource], raise_on_unknown=False)["topic"][topic.name]
    if answer != "OK":
        kind = TopicForbiddenError if "AuthorizationFailed" in answer else BrokerError
        raise kind(f"{problem}: {answer}")


def _describe_topics(admin: KafkaAdminClient, names: list[str]) -> dict[str, _Found]:
    """Return the topics that exist, by name."""
    with translated_kafka_errors(f"the topics {', '.join(names)} cannot be read"):
        existing = {}
        for topic in admin.describe_topics(names):
            kind = for_code(topic["error_code"])
            if kind is not UnknownTopicOrPartitionError:
                _raise_unless_done(kind, None, f"topic {topic['name']!r} cannot be read")
                existing[topic["name"]] = topic["partitions"]
        resources = [ConfigResource(ConfigResourceType.TOPIC, name) for name in existing]
        own = admin.describe_configs(resources)["topic"] if resources else {}
    return {
        name: _Found(
            partitions=len(partitions),
            replicas=len(partitions[0]["replica_nodes"]),
            properties={
                key: str(value["value"])
                for key, value in own[name].items()
                if value["config_source"] == _TOPIC_CONFIG
            },
        )
        for name, partitions in existing.items()
    }


def _raise_unless_done(kind: type[KafkaError], message: str | None, problem: str) -> None:
    if kind is not NoError:
        raise translate(kind(message or kind.description), problem, BrokerError)


def _build_client(options: dict[str, Any]) -> KafkaAdminClient:
    found = check_access(options)
    with translated_kafka_errors("the admin client cannot start"):
        return KafkaAdminClient(**found, bootstrap_timeout_ms=int(PROBE_SECONDS * 1000))
