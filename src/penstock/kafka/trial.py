"""A trial of a login and its access lists, by requests that change nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

from kafka.errors import (
    GroupAuthorizationFailedError,
    TransactionalIdAuthorizationFailedError,
)
from kafka.protocol.consumer.group import HeartbeatRequest
from kafka.protocol.metadata.find_coordinator import CoordinatorType, FindCoordinatorRequest

from penstock.errors import BrokerError, TopicForbiddenError
from penstock.kafka._connection import (
    PROBE_SECONDS,
    Connection,
    build_metadata_request,
    check_topic,
    open_connection,
    translated_connection,
)
from penstock.kafka.login import client_options
from penstock.kafka.settings import KafkaSettings


def try_login(settings: KafkaSettings) -> dict[str, BrokerError | None]:
    """Connect and log in to each broker of the settings, and return why it failed, or None."""
    options = client_options(settings)
    return {server: _try_server(server, options) for server in options["bootstrap_servers"]}


def try_access(
    settings: KafkaSettings,
    topics: Sequence[str],
    groups: Sequence[str] = (),
    transactional_ids: Sequence[str] = (),
) -> list[BrokerError]:
    """Return an error for each topic, consumer group and transactional id that a login may not use.

    Raises:
        BrokerError: the first broker cannot be used; the subclass says why.
    """
    options = client_options(settings)
    server = options["bootstrap_servers"][0]
    with (
        translated_connection(server, options),
        closing(_connect(server, options)) as connection,
    ):
        return [
            *_try_topics(connection, topics),
            *(error for group in groups for error in _try_group(connection, group)),
            *(error for each in transactional_ids for error in _try_transactions(connection, each)),
        ]


def _try_server(server: str, options: dict[str, Any]) -> BrokerError | None:
    try:
        with translated_connection(server, options):
            _connect(server, options).close()
    except BrokerError as error:
        return error
    return None


def _connect(server: str, options: dict[str, Any]) -> Connection:
    return open_connection(server, options, time.monotonic() + PROBE_SECONDS)


def _try_topics(connection: Connection, topics: Sequence[str]) -> Iterator[BrokerError]:
    for topic in connection.ask(build_metadata_request(topics)).topics:
        try:
            check_topic(topic)
        except BrokerError as error:
            yield error


def _try_group(connection: Connection, group: str) -> Iterator[BrokerError]:
    """Send the heartbeat of a member that is not there: it is refused, but not as forbidden."""
    asked = HeartbeatRequest(group_id=group, generation_id=0, member_id="", version=0)
    if connection.ask(asked).error_code == GroupAuthorizationFailedError.errno:
        yield TopicForbiddenError(
            f"consumer group {group!r} is forbidden for this principal: expected an ACL or a "
            "policy that allows READ"
        )


def _try_transactions(connection: Connection, name: str) -> Iterator[BrokerError]:
    kind = int(CoordinatorType.TRANSACTION)
    asked = FindCoordinatorRequest(key=name, key_type=kind, version=1)
    if connection.ask(asked).error_code == TransactionalIdAuthorizationFailedError.errno:
        yield TopicForbiddenError(
            f"transactional id {name!r} is forbidden for this principal: expected an ACL or a "
            "policy that allows WRITE"
        )
