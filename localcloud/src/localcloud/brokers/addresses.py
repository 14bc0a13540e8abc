"""The addresses that brokers listen on."""

from __future__ import annotations

import secrets
import socket

from localcloud.brokers.properties import CONTROLLER_ID, CONTROLLER_PORT
from localcloud.errors import AddressInUseError


def choose_network() -> str:
    """Return three octets of a loopback network without a cluster, for one that lives shortly."""
    while True:
        network = f"127.{100 + secrets.randbelow(150)}.{secrets.randbelow(250)}"
        try:
            check_free(f"{network}.{CONTROLLER_ID}", CONTROLLER_PORT)
        except AddressInUseError:
            continue
        return network


def check_free(address: str, port: int) -> None:
    """Raise AddressInUseError if another process listens there."""
    with socket.socket() as probe:
        # Set it as servers do: connections in TIME_WAIT are then no conflict.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError as error:
            raise AddressInUseError(
                f"cannot listen on {address}:{port}: {error.strerror}; end what listens there "
                f"(`ss -ltnp 'sport = :{port}'` shows it) or choose another network"
            ) from error
