"""Loopback addresses: several localclouds on one machine never share any."""

from __future__ import annotations

import random
import socket

from localcloud.errors import AddressInUseError

# Above the ones that people pick by hand.
_NETWORKS = range(64, 100)
BROKER_NETWORKS = range(100, 250)
_ATTEMPTS = 50
_GUARD_PORT = 4565


class LoopbackAddresses:
    """Loopback addresses that nobody else uses, claimed as a /24 at a time."""

    def __init__(self) -> None:
        self._guards: list[socket.socket] = []
        self._free: list[str] = []

    def take(self) -> str:
        """Return an unused address."""
        if not self._free:
            network, guard = claim_network(_NETWORKS)
            self._guards.append(guard)
            self._free = [f"{network}.{last}" for last in range(2, 255)]
        return self._free.pop(0)

    def give_back(self, address: str) -> None:
        """Return an address to the pool, behind all others."""
        self._free.append(address)

    def close(self) -> None:
        """Release all claimed networks."""
        for guard in self._guards:
            guard.close()
        self._guards.clear()
        self._free.clear()


def claim_network(second_octets: range) -> tuple[str, socket.socket]:
    """Return the first octets of a /24 that no other localcloud has, and the socket that holds it.

    Raises:
        AddressInUseError: none was found.
    """
    for _ in range(_ATTEMPTS):
        network = f"127.{random.choice(second_octets)}.{random.randrange(256)}"  # noqa: S311
        guard = socket.socket()
        try:
            # Held while we live: the same bind of another localcloud fails.
            guard.bind((f"{network}.1", _GUARD_PORT))
        except OSError:
            guard.close()
            continue
        return network, guard
    raise AddressInUseError(
        f"{_ATTEMPTS} loopback networks were tried and each has a process on port {_GUARD_PORT}"
    )
