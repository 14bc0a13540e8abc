"""Topics: create one and wait until every broker knows it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from kafka import KafkaAdminClient
from kafka.errors import NoError, TopicAlreadyExistsError, for_code

from penstock.errors import BrokerError, BrokerUnavailableError, TopicNotFoundError
from penstock.kafka._failures import translate, translated_kafka_errors
from penstock.kafka._mechanism import client_options
from penstock.kafka._probe import PROBE_SECONDS, check_topics, read_metadata
from penstock.kafka.access import check_access
from penstock.kafka.settings import KafkaSettings

_PAUSE_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic to create; -1 leaves a number to the brokers' default."""

    name: str
    partitions: int = -1
    replicas: int = -1
    properties: Mapping[str, str] = field(default_factory=dict)


def open_admin(settings: KafkaSettings) -> KafkaAdminClient:
    """Return kafka-python's admin client, logged in.

    Raises:
        BrokerError: no broker can be used; the subclass says why.
    """
    options = client_options(settings)
    check_access(options)
    return _build_client(options)


def ensure_topic(settings: KafkaSettings, topic: Topic, *, timeout_seconds: float = 15.0) -> bool:
    """Create the topic unless it exists, and wait until every broker knows it and its leaders.

    An existing topic is not changed.

    Returns:
        Whether this call created the topic; one of several concurrent callers did.

    Raises:
        TopicForbiddenError: the principal may not create the topic.
        BrokerUnavailableError: the topic was not usable in time.
        BrokerError: the brokers refuse the topic.
    """
    deadline = time.monotonic() + timeout_seconds
    options = client_options(settings)
    try:
        check_access(options, [topic.name])
        created = False
    except TopicNotFoundError:
        created = _create(options, topic)
    while (missing := _find_missing(options, topic.name)) is not None:
        if time.monotonic() > deadline:
            raise BrokerUnavailableError(
                f"topic {topic.name!r} was not usable within {timeout_seconds:g} s: {missing}"
            )
        time.sleep(_PAUSE_SECONDS)
    return created


def _create(options: dict[str, Any], topic: Topic) -> bool:
    wanted = {
        "num_partitions": topic.partitions,
        "replication_factor": topic.replicas,
        "configs": topic.properties,
    }
    what = f"topic {topic.name!r} cannot be created"
    with closing(_build_client(options)) as admin, translated_kafka_errors(what):
        answer = admin.create_topics({topic.name: wanted}, raise_errors=False)["topics"][0]
    kind = for_code(answer["error_code"])
    if kind not in (NoError, TopicAlreadyExistsError):
        raise translate(kind(answer["error_message"]), what, BrokerError)
    return bool(kind is NoError)


def _find_missing(options: dict[str, Any], topic: str) -> BrokerError | None:
    """Ask every broker: the response to a creation comes before all of them know the topic."""
    try:
        for broker in check_access(options).brokers:
            deadline = time.monotonic() + PROBE_SECONDS
            server = f"{broker.host}:{broker.port}"
            metadata = read_metadata(server, options, [topic], deadline)
            check_topics(metadata)
            if any(partition.leader_id < 0 for partition in metadata.topics[0].partitions):
                return BrokerUnavailableError(f"{server} knows no leader of a partition")
    except (TopicNotFoundError, BrokerUnavailableError) as error:
        return error
    return None


def _build_client(options: dict[str, Any]) -> KafkaAdminClient:
    with translated_kafka_errors("the admin client cannot start"):
        return KafkaAdminClient(**options, bootstrap_timeout_ms=int(PROBE_SECONDS * 1000))
