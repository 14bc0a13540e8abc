"""The addresses that brokers listen on."""

from __future__ import annotations

import socket

from localcloud.errors import AddressInUseError


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
