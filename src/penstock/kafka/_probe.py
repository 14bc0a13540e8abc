"""One question to one broker, whose failure says what is wrong.

kafka-python retries whatever fails, a refused login included, for 30 s and then says "timeout". So
before a client is built, and when it fails, we connect once with exactly its options and look.
"""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Mapping, Sequence
from typing import Any

from kafka import errors
from kafka.net.manager import KafkaConnectionManager
from kafka.net.selector import NetworkSelector
from kafka.protocol.metadata import MetadataRequest, MetadataResponse

from penstock.errors import (
    BrokerCertificateError,
    BrokerError,
    BrokerLoginError,
    BrokerNameError,
    BrokerUnavailableError,
    TopicForbiddenError,
    TopicNotFoundError,
)

PROBE_SECONDS = 5.0

_REFUSED = (
    errors.SaslAuthenticationFailedError,
    errors.UnsupportedSaslMechanismError,
    errors.IllegalSaslStateError,
)
_NOT_FOUND = errors.UnknownTopicOrPartitionError.errno
_FORBIDDEN = errors.TopicAuthorizationFailedError.errno


def check_access(
    options: Mapping[str, Any], topics: Sequence[str] = (), timeout_seconds: float = PROBE_SECONDS
) -> MetadataResponse:
    """Connect and log in to the first broker that lets us, and see that the topics are there.

    Raises:
        BrokerLoginError, BrokerCertificateError, BrokerNameError, BrokerUnavailableError: of the
            first broker; one that refuses the login is not followed by another.
        TopicNotFoundError, TopicForbiddenError: a topic does not exist, or not for us.
    """
    deadline = time.monotonic() + timeout_seconds
    servers = options["bootstrap_servers"]
    failures: list[BrokerError] = []
    for left, server in zip(range(len(servers), 0, -1), servers, strict=True):
        try:
            share = (deadline - time.monotonic()) / left
            metadata = read_metadata(server, options, topics, share)
        except BrokerLoginError:
            raise
        except BrokerError as error:
            failures.append(error)
        else:
            check_topics(metadata)
            return metadata
    raise _sum_up(failures)


def read_metadata(
    server: str, options: Mapping[str, Any], topics: Sequence[str], timeout_seconds: float
) -> MetadataResponse:
    """Ask one broker what it knows of the cluster and of the topics."""
    timeout_ms = max(1, int(timeout_seconds * 1000))
    _check_name(server)
    request = MetadataRequest(
        topics=[MetadataRequest.MetadataRequestTopic(name=topic) for topic in topics],
        allow_auto_topic_creation=False,
    )
    net = NetworkSelector()
    manager = KafkaConnectionManager(
        net, **{**options, "bootstrap_servers": [server], "request_timeout_ms": timeout_ms}
    )
    try:
        answer = manager.send(request, node_id=manager.cluster.bootstrap_brokers()[0].node_id)
        return manager.run(manager.wait_for, answer, timeout_ms)
    except errors.KafkaError as error:
        raise _translate(error, server, options) from error
    finally:
        manager.close()
        net.close()


def check_topics(metadata: MetadataResponse) -> None:
    """Raise what the broker says of a topic that cannot be used."""
    for topic in metadata.topics:
        if topic.error_code == _NOT_FOUND:
            raise TopicNotFoundError(f"topic {topic.name!r} does not exist")
        if topic.error_code == _FORBIDDEN:
            raise TopicForbiddenError(
                f"topic {topic.name!r} is not for this principal, if it exists: "
                "expected an ACL or a policy that allows it"
            )


def _check_name(server: str) -> None:
    host, _, port = server.rpartition(":")
    try:
        socket.getaddrinfo(host, int(port), type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        raise BrokerNameError(f"the broker's name {host!r} does not resolve") from error


def _translate(error: errors.KafkaError, server: str, options: Mapping[str, Any]) -> BrokerError:
    cause = error.__context__
    if isinstance(error, _REFUSED):
        return BrokerLoginError(
            f"{server} refuses the login by {options['sasl_mechanism']}: {error.args[0]}"
        )
    if isinstance(cause, ssl.SSLCertVerificationError):
        return BrokerCertificateError(
            f"the certificate of {server} is refused: {cause.verify_message}"
        )
    if isinstance(cause, ssl.SSLError) and not isinstance(cause, ssl.SSLEOFError):
        return BrokerCertificateError(f"{server} speaks no TLS that we accept: {cause.reason}")
    return BrokerUnavailableError(f"{server} does not answer: {error}")


def _sum_up(failures: Sequence[BrokerError]) -> BrokerError:
    # What can never work says more than what is only down.
    worst = min(failures, key=lambda error: error.retriable)
    return type(worst)("; ".join(str(error) for error in failures))
