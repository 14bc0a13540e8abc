"""Connections to brokers, as a process in a VPC would make them."""

from __future__ import annotations

import socket
from contextlib import closing

from tests.two_accounts import PORT

WAIT_SECONDS = 60.0  # on a busy machine; what is waited for is a state


def dial(network, source, host, port=PORT):
    """Connect as a process in the VPC would."""
    address = network.view(source).addresses[host]
    connection = socket.create_connection((address, port), timeout=WAIT_SECONDS)
    return connection


def greet(network, source, host):
    """Connect, and read what the broker says first."""
    with closing(dial(network, source, host)) as connection:
        return connection.makefile().readline().strip()
