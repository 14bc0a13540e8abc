"""One question to one broker, and the reason if it cannot be answered.

kafka-python's own connections retry every failure for 30 s, also a refused login, and then report
a timeout. This module uses kafka-python's protocol and mechanisms without its connections.
"""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from typing import Any
from weakref import finalize

from kafka.errors import KafkaError, TopicAuthorizationFailedError, UnknownTopicOrPartitionError
from kafka.net.sasl import get_sasl_mechanism
from kafka.protocol.metadata import MetadataRequest, MetadataResponse
from kafka.protocol.parser import KafkaProtocol
from kafka.protocol.sasl import SaslAuthenticateRequest, SaslHandshakeRequest

from penstock.attempts import start_call
from penstock.errors import (
    BrokerCertificateError,
    BrokerLoginError,
    BrokerNameError,
    BrokerUnavailableError,
    TopicForbiddenError,
    TopicNotFoundError,
)

PROBE_SECONDS = 5.0
METADATA_VERSION = 4  # the first with "do not create the topic"; brokers of 0.11 and later
_CHUNK_BYTES = 65_536
# How TLS brokers refuse a client without a certificate, or with one of another authority.
_ALERTS = ("ALERT_CERTIFICATE", "ALERT_BAD_CERTIFICATE", "ALERT_UNKNOWN_CA")
# MSK's own names are in public DNS, those of privatelink in a private zone of the consumer's VPC.
_NAMES = (
    "expected a broker of the cluster or of the newest contract; names of the exposure privatelink "
    "resolve only in the consumer's VPC, and those of localcloud only under "
    "`localcloud run --as NAME -- ...`"
)


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
    with closing(MetadataReader()) as reader:
        return reader.read(server, options, topics, deadline, version)


class MetadataReader:
    """Reads metadata as `read_metadata` does, and keeps its connections for the next time."""

    def __init__(self) -> None:
        self._open: dict[str, Connection] = {}
        # A query has no end at which it could be closed.
        self._finalizer = finalize(self, _close_all, self._open)

    def close(self) -> None:
        """Close the connections."""
        self._finalizer()

    def read(
        self,
        server: str,
        options: Mapping[str, Any],
        topics: Sequence[str],
        deadline: float,
        version: int = METADATA_VERSION,
    ) -> MetadataResponse:
        """Return a broker's metadata, by the connection of before while the broker keeps it."""
        request = build_metadata_request(topics, version)
        if kept := self._open.pop(server, None):
            with suppress(OSError, KafkaError):
                return self._send_request(server, kept, request, (time.monotonic() + deadline) / 2)
        with translated_connection(server, options):
            connection = open_connection(server, options, deadline)
            return self._send_request(server, connection, request, deadline)

    def _send_request(
        self, server: str, connection: Connection, request: MetadataRequest, deadline: float
    ) -> MetadataResponse:
        """Ask, and keep the connection if there is an answer."""
        connection.deadline = deadline
        try:
            answer: MetadataResponse = connection.ask(request)
        except BaseException:
            connection.close()
            raise
        self._open[server] = connection
        return answer


def _close_all(connections: dict[str, Connection]) -> None:
    while connections:
        connections.popitem()[1].close()


def build_metadata_request(
    topics: Sequence[str], version: int = METADATA_VERSION
) -> MetadataRequest:
    """Build a request for the metadata of topics, which creates none."""
    return MetadataRequest(
        topics=[MetadataRequest.MetadataRequestTopic(name=topic) for topic in topics],
        allow_auto_topic_creation=False,
        version=version,
    )


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
            f"topic {topic.name!r} does not exist or is forbidden for this principal: "
            "expected an ACL or a policy that allows it"
        )


class LoginRefused(Exception):
    """The broker refused the mechanism or the credentials."""


class Connection:
    """A connection that times out at `deadline`, a time of the monotonic clock.

    It uses TLS if the options have a TLS context.
    """

    def __init__(self, server: str, options: Mapping[str, Any], deadline: float) -> None:
        host, _, port = server.rpartition(":")
        self.deadline = deadline
        self._protocol = KafkaProtocol(client_id=options["client_id"])
        self._socket = self._connect(host, int(port))
        if context := options.get("ssl_context"):
            self._socket = context.wrap_socket(self._socket, server_hostname=host)

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def log_in(self, options: Mapping[str, Any]) -> None:
        """Log in by the mechanism that the options name, if any.

        Raises:
            LoginRefused: the broker refuses the login, or its proof of the password is wrong.
        """
        if (name := options.get("sasl_mechanism")) is None:
            return
        offer = self.ask(SaslHandshakeRequest(mechanism=name, version=1))
        if name not in offer.mechanisms:
            raise LoginRefused(f"it offers {', '.join(offer.mechanisms)}")
        mechanism = get_sasl_mechanism(name)(**options)
        while not mechanism.is_done():
            answer = self.ask(SaslAuthenticateRequest(mechanism.auth_bytes(), version=1))
            if answer.error_code:
                raise LoginRefused(answer.error_message)
            try:
                mechanism.receive(answer.auth_bytes)
            except (ValueError, KeyError) as error:
                raise LoginRefused(f"its proof of the password is wrong: {error}") from error

    def ask(self, request: Any) -> Any:
        """Send one request and return its response."""
        self._protocol.send_request(request)
        self._socket.settimeout(self._left())
        self._socket.sendall(self._protocol.send_bytes())
        while True:
            self._socket.settimeout(self._left())
            received = self._socket.recv(_CHUNK_BYTES)
            if not received:
                raise ConnectionResetError("it closed the connection")
            for _, answer in self._protocol.receive_bytes(received):
                return answer

    def _connect(self, host: str, port: int) -> socket.socket:
        failure: OSError = ConnectionError("the name has no address")
        for *_, address in _resolve(host, port, self._left()):
            try:
                return socket.create_connection(address[:2], self._left())
            except OSError as error:
                failure = error
        raise failure

    def _left(self) -> float:
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        return left


def open_connection(server: str, options: Mapping[str, Any], deadline: float) -> Connection:
    """Connect to a broker and log in; errors are those that `translated_connection` translates."""
    connection = Connection(server, options, deadline)
    try:
        connection.log_in(options)
    except BaseException:
        connection.close()
        raise
    return connection


def _resolve(host: str, port: int, seconds: float) -> list[Any]:
    """Return the addresses of a name; `getaddrinfo` itself has no time limit."""
    found = start_call(lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
    return found.result(seconds)


@contextmanager
def translated_connection(server: str, options: Mapping[str, Any]) -> Iterator[None]:
    """Translate the errors of a connection to a broker."""
    try:
        yield
    except (socket.gaierror, UnicodeError) as error:  # the latter for a part of over 63 letters
        raise BrokerNameError(f"the name in {server} does not resolve; {_NAMES}") from error
    except ssl.SSLCertVerificationError as error:
        raise BrokerCertificateError(
            f"the certificate of {server} is refused: {error.verify_message.rstrip('.')}"
        ) from error
    except ssl.SSLError as error:
        if not any(alert in str(error) for alert in _ALERTS):
            raise _unreachable(server, options, error) from error
        raise BrokerLoginError(
            f"{server} refuses the client certificate: {error.reason}; expected one that a private "
            "CA of the cluster issued and that is still valid (KAFKA_SECURITY tls, "
            "KAFKA_SECRET_ARN)"
        ) from error
    except LoginRefused as error:
        raise BrokerLoginError(
            f"{server} refuses the login by {options['sasl_mechanism']}: {error}"
        ) from error
    except TimeoutError as error:
        raise BrokerUnavailableError(f"{server} does not answer in time") from error
    except (OSError, KafkaError) as error:
        raise _unreachable(server, options, error) from error


def _unreachable(
    server: str, options: Mapping[str, Any], error: Exception
) -> BrokerUnavailableError:
    return BrokerUnavailableError(
        f"{server} cannot be reached: {error}; expected a broker with security "
        f"{options['security_protocol']}"
    )
