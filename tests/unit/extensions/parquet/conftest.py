"""Time that passes when told, and a session of localcloud, as in the tests of sinks."""

from __future__ import annotations

from tests.unit.sinks.conftest import attempts, session, time

__all__ = ["attempts", "session", "time"]
