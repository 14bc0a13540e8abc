"""A check of broker, login and topics before a client is built."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from kafka.errors import KafkaError, TopicAuthorizationFailedError, UnknownTopicOrPartitionError
from kafka.protocol.metadata import MetadataRequest, MetadataResponse

from penstock.errors import (
    BrokerCertificateError,
    BrokerLoginError,
    BrokerNameError,
    BrokerUnavailableError,
    TopicForbiddenError,
    TopicNotFoundError,
)
from penstock.kafka._connection import Connection, LoginRefused

PROBE_SECONDS = 5.0

METADATA_VERSION = 4  # the first with "do not create the topic"; brokers of 0.11 and later


def read_metadata(
    server: str,
    options: Mapping[str, Any],
    topics: Sequence[str],
    deadline: float,
    version: int = METADATA_VERSION,
) -> MetadataResponse:
    """Log in to one broker and return its metadata of the cluster and the topics.

    Raises:
        BrokerNameError: the broker's name does not resolve.
        BrokerCertificateError: its certificate is not trusted.
        BrokerLoginError: it refuses the login.
        BrokerUnavailableError: it cannot be reached, or does not answer before the deadline.
    """
    request = MetadataRequest(
        topics=[MetadataRequest.MetadataRequestTopic(name=topic) for topic in topics],
        allow_auto_topic_creation=False,
        version=version,
    )
    with _translated(server, options), Connection(server, options, deadline) as connection:
        connection.log_in(options)
        return connection.ask(request)


def check_topics(metadata: MetadataResponse) -> None:
    """Raise an error for the first topic in the metadata that cannot be used."""
    for topic in metadata.topics:
        check_topic(topic)


def check_topic(topic: Any) -> None:
    """Raise an error if the metadata say that the topic cannot be used.

    Raises:
        TopicNotFoundError: the topic does not exist.
        TopicForbiddenError: the principal may not use it.
    """
    if topic.error_code == UnknownTopicOrPartitionError.errno:
        raise TopicNotFoundError(f"topic {topic.name!r} does not exist")
    if topic.error_code == TopicAuthorizationFailedError.errno:
        raise TopicForbiddenError(
            f"topic {topic.name!r} is not for this principal, if it exists: "
            "expected an ACL or a policy that allows it"
        )


@contextmanager
def _translated(server: str, options: Mapping[str, Any]) -> Iterator[None]:
    try:
        yield
    except socket.gaierror as error:
        raise BrokerNameError(f"the name in {server} does not resolve") from error
    except ssl.SSLCertVerificationError as error:
        raise BrokerCertificateError(
            f"the certificate of {server} is refused: {error.verify_message.rstrip('.')}"
        ) from error
    except LoginRefused as error:
        raise BrokerLoginError(
            f"{server} refuses the login by {options['sasl_mechanism']}: {error}"
        ) from error
    except TimeoutError as error:
        raise BrokerUnavailableError(f"{server} does not answer in time") from error
    except (OSError, KafkaError) as error:
        raise BrokerUnavailableError(
            f"{server} cannot be talked to: {error}; expected a broker with security "
            f"{options['security_protocol']}"
        ) from error
