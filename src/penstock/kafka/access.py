"""Whether brokers can be used, and if not, why."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from kafka.protocol.metadata import MetadataResponse

from penstock.errors import BrokerError, BrokerLoginError, TopicForbiddenError
from penstock.kafka._probe import METADATA_VERSION, PROBE_SECONDS, check_topics, read_metadata

_PAUSE_SECONDS = 1.0
_Result = TypeVar("_Result")


def check_access(
    options: Mapping[str, Any],
    topics: Sequence[str] = (),
    timeout_seconds: float = PROBE_SECONDS,
) -> MetadataResponse:
    """Log in to the first broker that lets us, and see that the topics are there.

    Raises:
        BrokerLoginError: a broker refuses the login; the others are not asked.
        BrokerCertificateError, BrokerNameError, BrokerUnavailableError: none can be used.
        TopicNotFoundError, TopicForbiddenError: a topic does not exist, or not for us.
    """
    metadata = ask_brokers(options, topics, timeout_seconds)
    check_topics(metadata)
    return metadata


def ask_brokers(
    options: Mapping[str, Any],
    topics: Sequence[str],
    timeout_seconds: float = PROBE_SECONDS,
    version: int = METADATA_VERSION,
) -> MetadataResponse:
    """Log in to the first broker that lets us, and give what it says of the topics.

    `version` is that of the request, which says how much the answer tells.

    Raises:
        BrokerLoginError: a broker refuses the login; the others are not asked.
        BrokerCertificateError, BrokerNameError, BrokerUnavailableError: none can be used.
    """
    deadline = time.monotonic() + timeout_seconds
    servers = options["bootstrap_servers"]
    failures: list[BrokerError] = []
    for position, server in enumerate(servers):
        now = time.monotonic()
        try:
            # A silent broker leaves half of the time for the next.
            end = deadline if position == len(servers) - 1 else (now + deadline) / 2
            return read_metadata(server, options, topics, end, version)
        except BrokerLoginError:
            raise
        except BrokerError as error:
            failures.append(error)
    # What can never work says more than what is only down.
    worst = min(failures, key=lambda error: error.retriable)
    raise type(worst)("; ".join(str(error) for error in failures)) from worst.__cause__


def await_rights(action: Callable[[], _Result], *, timeout_seconds: float = 60.0) -> _Result:
    """Do what needs rights that may be new: IAM takes a while to tell the brokers of one.

    While they refuse the login or a right it is done again, so that it must bear repeating.

    Raises:
        BrokerLoginError: they still refuse the login.
        TopicForbiddenError: they still refuse the right.
    """
    deadline = time.monotonic() + timeout_seconds
    while True:
        try:
            return action()
        except (BrokerLoginError, TopicForbiddenError):
            if time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE_SECONDS)
