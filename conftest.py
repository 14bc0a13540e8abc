"""Fixtures for every test: trials and seeds, what faults did, and the two accounts."""

from __future__ import annotations

import os
import random
import secrets
import zlib
from collections.abc import Callable

import hypothesis
import pytest

from localcloud.testing.clients import client, cloud
from tests.fixtures.faults import fault

__all__ = ["client", "cloud", "fault"]

_NIGHTLY = os.environ.get("NIGHTLY") == "1"
_NIGHTLY_SECONDS = 3_600

hypothesis.settings.register_profile("pr", max_examples=100, deadline=None, derandomize=True)
hypothesis.settings.register_profile("nightly", max_examples=2_000, deadline=None)
hypothesis.settings.load_profile("nightly" if _NIGHTLY else "pr")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let each test of a nightly run take an hour, and leave its own tests out of other runs."""
    if _NIGHTLY:
        for item in items:
            item.add_marker(pytest.mark.timeout(_NIGHTLY_SECONDS), append=False)
        return
    left = [item for item in items if item.get_closest_marker("nightly")]
    items[:] = [item for item in items if item not in left]
    config.hook.pytest_deselected(items=left)


@pytest.fixture(scope="session")
def trials() -> Callable[[int, int], int]:
    """Choose between the number of trials for `make pr` and the one for `make nightly`."""
    return lambda pr, nightly: nightly if _NIGHTLY else pr


@pytest.fixture
def seeded(request: pytest.FixtureRequest) -> random.Random:
    """Return randomness of the test's own seed, or at night of a new one: SEED replays any.

    So a change fails `make pr` only by what it changed.
    """
    own = zlib.crc32(request.node.nodeid.encode())
    seed = int(os.environ.get("SEED") or (secrets.randbits(32) if _NIGHTLY else own))
    request.node.add_report_section("setup", "seed", f"replay with SEED={seed}")
    return random.Random(seed)
