"""One cluster for all tests of this folder."""

from __future__ import annotations

from tests.fixtures.brokers import brokers, keep_secret

__all__ = ["brokers", "keep_secret"]
