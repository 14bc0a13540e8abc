"""One question to the brokers of a mapping, for the reason why its topics cannot be read.

kafka-python's own connections retry every failure for 30 s, also a refused login, and then report a
timeout. Here its protocol and its mechanisms are used without its connections.
"""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any

from kafka.errors import KafkaError, TopicAuthorizationFailedError, UnknownTopicOrPartitionError
from kafka.net.sasl import get_sasl_mechanism
from kafka.protocol.metadata import MetadataRequest
from kafka.protocol.parser import KafkaProtocol
from kafka.protocol.sasl import SaslAuthenticateRequest, SaslHandshakeRequest

from localcloud.poller.access import AccessError

_SECONDS = 5.0
_VERSION = 4  # the first with "do not create the topic"
_CHUNK_BYTES = 65_536


class BrokerError(Exception):
    """A broker cannot be used; another one may."""


class MissingTopicError(Exception):
    """A topic does not exist, and may be created later."""


def check_topics(options: Mapping[str, Any], topics: Sequence[str]) -> None:
    """Log in to the first usable broker and ask for the topics; `options` are kafka-python's.

    Raises:
        AccessError: a broker refuses the login, or the topics are forbidden, or no broker answers.
        MissingTopicError: a topic does not exist.
    """
    for topic in _read_topics(options, topics):
        if topic.error_code == UnknownTopicOrPartitionError.errno:
            raise MissingTopicError(f"topic {topic.name!r} does not exist")
        if topic.error_code == TopicAuthorizationFailedError.errno:
            raise AccessError(
                f"topic {topic.name!r} does not exist or the user may not describe it"
            )


def _read_topics(options: Mapping[str, Any], topics: Sequence[str]) -> Sequence[Any]:
    """Return the metadata of the topics from the first broker that answers."""
    servers, deadline = options["bootstrap_servers"], time.monotonic() + _SECONDS
    failures = []
    for left, server in zip(range(len(servers), 0, -1), servers, strict=True):
        # A broker that does not answer leaves time for the next ones.
        seconds = (deadline - time.monotonic()) / min(left, 2)
        try:
            return _ask_broker(server, options, topics, seconds)
        except BrokerError as error:
            failures.append(str(error))
    raise AccessError("; ".join(failures))


def _ask_broker(
    server: str, options: Mapping[str, Any], topics: Sequence[str], seconds: float
) -> Sequence[Any]:
    try:
        with closing(_Connection(server, options, time.monotonic() + seconds)) as connection:
            connection.log_in(options)
            return connection.read_topics(topics)
    except (socket.gaierror, UnicodeError) as error:  # the latter for a part of over 63 letters
        raise BrokerError(f"the name in {server} does not resolve") from error
    except ssl.SSLCertVerificationError as error:
        reason = error.verify_message.rstrip(".")
        raise BrokerError(f"the certificate of {server} is refused: {reason}") from error
    except TimeoutError as error:
        raise BrokerError(f"{server} does not answer in time") from error
    except (OSError, KafkaError) as error:
        raise BrokerError(
            f"{server} cannot be reached: {error}; expected a broker with security "
            f"{options['security_protocol']}"
        ) from error


class _Connection:
    """A connection, with TLS if the options have a TLS context, that times out at `deadline`."""

    def __init__(self, server: str, options: Mapping[str, Any], deadline: float) -> None:
        host, _, port = server.rpartition(":")
        self._server, self._deadline = server, deadline
        self._protocol = KafkaProtocol(client_id=options["client_id"])
        self._socket = socket.create_connection((host, int(port)), self._left())
        if context := options.get("ssl_context"):
            self._socket = context.wrap_socket(self._socket, server_hostname=host)

    def close(self) -> None:
        self._socket.close()

    def log_in(self, options: Mapping[str, Any]) -> None:
        """Log in by the mechanism that the options name, if any."""
        name = options.get("sasl_mechanism")
        if name is None:
            return
        refused = f"{self._server} refuses the login by {name}"
        offer = self._ask(SaslHandshakeRequest(mechanism=name, version=1))
        if name not in offer.mechanisms:
            raise AccessError(f"{refused}: it offers {', '.join(offer.mechanisms)}")
        mechanism = get_sasl_mechanism(name)(**options)
        while not mechanism.is_done():
            answer = self._ask(SaslAuthenticateRequest(mechanism.auth_bytes(), version=1))
            if answer.error_code:
                raise AccessError(f"{refused}: {answer.error_message}")
            mechanism.receive(answer.auth_bytes)

    def read_topics(self, names: Sequence[str]) -> Sequence[Any]:
        """Return the metadata of topics."""
        topics = [MetadataRequest.MetadataRequestTopic(name=name) for name in names]
        request = MetadataRequest(topics=topics, allow_auto_topic_creation=False, version=_VERSION)
        found: Sequence[Any] = self._ask(request).topics
        return found

    def _ask(self, request: Any) -> Any:
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

    def _left(self) -> float:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left
