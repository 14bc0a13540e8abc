"""One cluster for all tests of this folder, and names that nobody has in it."""

from __future__ import annotations

import secrets

import pytest

from penstock.kafka import Security
from systems.clusters import Brokers
from tests.fixtures.brokers import brokers, keep_login, keep_secret

__all__ = ["brokers", "keep_login", "keep_secret"]


@pytest.fixture
def plaintext_environ(brokers: Brokers) -> dict[str, str]:
    """The variables of a command that connects without a login."""
    servers = brokers.settings(Security.PLAINTEXT).bootstrap_servers
    return {"KAFKA_BOOTSTRAP_SERVERS": ",".join(servers), "KAFKA_SECURITY": "plaintext"}


@pytest.fixture
def name() -> str:
    """A name of the test's own, for a user or a topic that is not there yet."""
    return f"n-{secrets.token_hex(4)}"
