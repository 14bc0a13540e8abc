"""One cluster for the tests of the access function."""

from __future__ import annotations

from tests.fixtures.brokers import brokers

__all__ = ["brokers"]
