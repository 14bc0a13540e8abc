"""The relay before the registry: it passes connections on, refuses them while cut, and recovers."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from systems.relay import Relay


@pytest.fixture
def relay() -> Iterator[Relay]:
    """A relay to a server that answers each connection with a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    connection.sendall(b"hello")

        threading.Thread(target=serve, daemon=True).start()
        relay = Relay(server.getsockname())
        yield relay
        relay.close()


def _read(relay: Relay) -> bytes:
    with socket.create_connection(("127.0.0.1", relay.port), timeout=10) as client:
        return client.recv(100)


def test_connections_are_refused_while_it_is_cut(relay: Relay) -> None:
    assert _read(relay) == b"hello"
    with relay.cut(), pytest.raises(ConnectionRefusedError):
        _read(relay)
    assert _read(relay) == b"hello"
