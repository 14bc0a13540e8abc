"""The addresses that brokers listen on."""

from __future__ import annotations

import socket

from localcloud.errors import AddressInUseError


def check_free(address: str, port: int) -> None:
    """Raise AddressInUseError if somebody listens there."""
    with socket.socket() as probe:
        # As servers do, so that connections in TIME_WAIT are no clash.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError as error:
            raise AddressInUseError(
                f"cannot listen on {address}:{port}: {error.strerror}; end what listens there "
                f"(`ss -ltnp 'sport = :{port}'` shows it) or choose another network"
            ) from error
