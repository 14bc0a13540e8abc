"""Checks of whether brokers and topics can be used, and the reason if not."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

from kafka.protocol.metadata import MetadataResponse

from penstock.attempts import Attempts
from penstock.errors import (
    BrokerError,
    BrokerLoginError,
    BrokerUnavailableError,
    TopicForbiddenError,
)
from penstock.kafka._connection import (
    METADATA_VERSION,
    PROBE_SECONDS,
    MetadataReader,
    check_topics,
    read_metadata,
)

_PAUSE_SECONDS = 1.0
_Result = TypeVar("_Result")
_LOG = logging.getLogger(__name__)

# As long as a rolling restart of the brokers takes, and as Spark's own client waits for them.
TWO_MINUTES: Final = Attempts(first_seconds=0.5, longest_seconds=5, total_seconds=120)


def check_access(
    options: Mapping[str, Any],
    topics: Sequence[str] = (),
    timeout_seconds: float = PROBE_SECONDS,
) -> dict[str, Any]:
    """Log in to the first usable broker and check that the topics exist.

    Returns:
        The options with only this broker to start with. kafka-python would choose at random, and
        give one that never answers all the time it has.

    Raises:
        BrokerLoginError: a broker refuses the login; the others are not asked.
        BrokerCertificateError, BrokerNameError, BrokerUnavailableError: no broker can be used.
        TopicNotFoundError, TopicForbiddenError: a topic does not exist, or may not be used.
    """
    server, metadata = _find_broker(options, topics, timeout_seconds, METADATA_VERSION, None)
    check_topics(metadata)
    return {**options, "bootstrap_servers": [server]}


def ask_brokers(
    options: Mapping[str, Any],
    topics: Sequence[str],
    version: int = METADATA_VERSION,
    reader: MetadataReader | None = None,
) -> MetadataResponse:
    """Log in to the first usable broker and return its metadata of the topics.

    `version` is the version of the metadata request; it determines the fields of the response. A
    `reader` keeps the connection for the next time.

    Raises:
        BrokerLoginError: a broker refuses the login; the others are not asked.
        BrokerCertificateError, BrokerNameError, BrokerUnavailableError: no broker can be used.
    """
    return _find_broker(options, topics, PROBE_SECONDS, version, reader)[1]


def _find_broker(
    options: Mapping[str, Any],
    topics: Sequence[str],
    timeout_seconds: float,
    version: int,
    reader: MetadataReader | None,
) -> tuple[str, MetadataResponse]:
    """Return the first usable broker and its metadata."""
    deadline = time.monotonic() + timeout_seconds
    servers = options["bootstrap_servers"]
    failures: list[BrokerError] = []
    read = reader.read if reader else read_metadata
    for position, server in enumerate(servers):
        now = time.monotonic()
        try:
            # A broker that does not answer takes half of the time left; the rest is for the next.
            end = deadline if position == len(servers) - 1 else (now + deadline) / 2
            return server, read(server, options, topics, end, version)
        except BrokerLoginError:
            raise
        except BrokerError as error:
            failures.append(error)
    # A permanent failure says more than a broker that is only down.
    worst = min(failures, key=lambda error: error.retriable)
    raise type(worst)("; ".join(str(error) for error in failures)) from worst.__cause__


def await_brokers(action: Callable[[], _Result], attempts: Attempts) -> _Result:
    """Run an idempotent action, and retry it while no broker answers.

    Raises:
        BrokerUnavailableError: that of the last attempt.
    """
    failure = BrokerUnavailableError("no broker was asked")
    for _ in attempts:
        try:
            return action()
        except BrokerUnavailableError as error:
            _LOG.warning("no broker answers: %s", error)
            failure = error
    raise failure


def await_permissions(action: Callable[[], _Result], *, timeout_seconds: float = 60.0) -> _Result:
    """Run an idempotent action, and retry it while the brokers refuse the login or a permission.

    The permission may be new, and IAM takes a while to propagate it to the brokers.

    Raises:
        BrokerLoginError: the brokers still refuse the login after `timeout_seconds`.
        TopicForbiddenError: the brokers still refuse the permission after `timeout_seconds`.
    """
    deadline = time.monotonic() + timeout_seconds
    while True:
        try:
            return action()
        except (BrokerLoginError, TopicForbiddenError):
            if time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE_SECONDS)
