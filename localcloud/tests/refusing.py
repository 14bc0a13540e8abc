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


def refusals_of(network, brokers):
    """Say why the clients of the brokers' SCRAM ports were refused, whoever else uses the names.

    A client in a hurry may give up before it has tried every broker.
    """
    ports = tuple(f"{broker.host}:9096 " for broker in brokers)
    refused = [it for it in network.links() if it.name.startswith(ports) and it.refusal]
    return {link.refusal.partition(";")[0] for link in refused}
