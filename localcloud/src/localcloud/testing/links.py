"""Relays before brokers: links that a test makes slow, cuts or splits while records flow."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from localcloud.brokers import BrokerCluster, ClusterSpec
from localcloud.brokers.properties import INTERNAL_PORT
from localcloud.network._connection import Link
from localcloud.network.relays import Relays

_RELAYS = 200  # the last part of a relay's address, to which its broker's id is added


@dataclass(frozen=True, slots=True)
class LinkedSpec(ClusterSpec):
    """A cluster that clients, and brokers among themselves, reach at the addresses of relays.

    `BrokerCluster.names` lead past the relays: who resolves by them is not disturbed.
    """

    def name(self, broker_id: int) -> str:
        """The address of the broker's relays."""
        return f"{self.network}.{_RELAYS + broker_id}"

    def advertised(self, broker_id: int) -> dict[str, tuple[str, int]]:
        """The relays of all listeners."""
        among_brokers = {"INTERNAL": (self.name(broker_id), INTERNAL_PORT)}
        return ClusterSpec.advertised(self, broker_id) | among_brokers


class BrokerLinks:
    """The links to each broker: those of clients, and that of its followers."""

    def __init__(self, relays: Relays, spec: ClusterSpec) -> None:
        self._relays = relays
        self._links: dict[tuple[int, str], list[Link]] = {}
        for broker in range(1, spec.broker_count + 1):
            for listener, port in spec.ports.items():
                link = _make_link(spec.address(broker), port)
                relays.open(spec.name(broker), port, link)
                of = "followers" if listener == "INTERNAL" else "clients"
                self._links.setdefault((broker, of), []).append(link)

    def slow(self, broker: int, seconds: float, latency: float) -> int:
        """Let bytes of clients take `latency` seconds; return how many pieces of them did."""
        links = self._links[broker, "clients"]
        for link in links:
            link.latency_seconds = latency
        return _hold(links, seconds)

    def split(self, broker: int, seconds: float, of: str = "clients") -> int:
        """Keep what clients, or followers, and the broker send; return how many pieces it were."""
        links = self._links[broker, of]
        for link in links:
            link.is_silent = True
        return _hold(links, seconds)

    def cut(self, broker: int, seconds: float) -> int:
        """Reset the connections of clients, and refuse new ones; return how many were reset."""
        links = self._links[broker, "clients"]
        count = sum(len(link.connections) for link in links)
        for link in links:
            link.is_cut = True
        self._relays.reset(links)
        time.sleep(seconds)
        _mend(links)
        return count


@contextmanager
def linked(cluster: BrokerCluster) -> Iterator[BrokerLinks]:
    """Relay a cluster of `LinkedSpec` as long as the block lasts; it may start in the block."""
    relays = Relays()
    try:
        yield BrokerLinks(relays, cluster.spec)
    finally:
        relays.stop()


def _make_link(address: str, port: int) -> Link:
    return Link(f"{address}:{port}", lambda: (address, port))


def _hold(links: Sequence[Link], seconds: float) -> int:
    before = sum(link.held for link in links)
    time.sleep(seconds)
    _mend(links)
    return sum(link.held for link in links) - before


def _mend(links: Iterable[Link]) -> None:
    for link in links:
        link.mend()
