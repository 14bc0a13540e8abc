"""Glue's registry over a store that a test can reach, as in the tests of registries."""

from __future__ import annotations

from tests.unit.registry.conftest import _local_glue, attempts, glue_api, reading, time

__all__ = ["_local_glue", "attempts", "glue_api", "reading", "time"]
