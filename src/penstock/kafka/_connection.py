"""A blocking connection to one broker, which raises every failure unchanged.

kafka-python's own connections retry every failure for 30 s, also a refused login, and then report
a timeout. This module uses kafka-python's protocol and mechanisms without its connections.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Mapping
from typing import Any

from kafka.net.sasl import get_sasl_mechanism
from kafka.protocol.parser import KafkaProtocol
from kafka.protocol.sasl import SaslAuthenticateRequest, SaslHandshakeRequest

from penstock.kafka._closing import Closing

_CHUNK_BYTES = 65_536


class LoginRefused(Exception):
    """The broker refused the mechanism or the credentials."""


class Connection(Closing):
    """A connection that times out at `deadline`, a time of the monotonic clock.

    It uses TLS if the options have a TLS context.
    """

    def __init__(self, server: str, options: Mapping[str, Any], deadline: float) -> None:
        host, _, port = server.rpartition(":")
        self._deadline = deadline
        self._protocol = KafkaProtocol(client_id=options["client_id"])
        self._socket = socket.create_connection((host, int(port)), self._left())
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
                raise LoginRefused(f"its proof is wrong: {error}") from error

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

    def _left(self) -> float:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        return left
