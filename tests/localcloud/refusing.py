"""PrivateLink that the producer refuses for a while, and why its clients were refused."""

from __future__ import annotations

import contextlib


@contextlib.contextmanager
def rejected(accounts, *brokers):
    """Reject the endpoints of brokers, of all unless some are named; accept them in any case."""
    chosen = brokers or accounts.brokers
    try:
        for broker in chosen:
            accounts.reject(broker)
        yield
    finally:
        for broker in chosen:
            accounts.accept(broker)


def refusals_of(network, broker):
    """Say why the clients of a broker's SCRAM port were refused, whoever else uses its name."""
    links = [it for it in network.links(broker.host) if it.name.startswith(f"{broker.host}:9096 ")]
    return {link.refusal.partition(";")[0] for link in links if link.refusal}
