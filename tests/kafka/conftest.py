"""One cluster for all tests of this folder, and names that nobody has in it."""

from __future__ import annotations

import secrets

import pytest

from tests.fixtures.brokers import brokers, keep_secret

__all__ = ["brokers", "keep_secret"]


@pytest.fixture
def name() -> str:
    """A name of the test's own, for a user or a topic that is not there yet."""
    return f"n-{secrets.token_hex(4)}"
