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
from tests.fixtures.accounts import act_as
from tests.fixtures.faults import fault, pytest_runtest_makereport

__all__ = ["act_as", "client", "cloud", "fault", "pytest_runtest_makereport"]

_NIGHTLY = os.environ.get("NIGHTLY") == "1"
_NIGHTLY_SECONDS = 3_600
_OF_A_NIGHT = frozenset({"fault", "seeded", "trials"})  # fixtures of tests that do more then

hypothesis.settings.register_profile("pr", max_examples=100, deadline=None, derandomize=True)
hypothesis.settings.register_profile("nightly", max_examples=2_000, deadline=None)
hypothesis.settings.load_profile("nightly" if _NIGHTLY else "pr")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave a night's own tests to it, and leave out of it what it would only repeat.

    A test that is asked for by its name runs at any time, as that of a mutant must.
    """
    if not any("::" in word for word in config.args):
        left = [item for item in items if not _runs(item)]
        items[:] = [item for item in items if _runs(item)]
        config.hook.pytest_deselected(items=left)
    if _NIGHTLY:
        for item in items:
            item.add_marker(pytest.mark.timeout(_NIGHTLY_SECONDS), append=False)


def _runs(item: pytest.Item) -> bool:
    is_long = item.get_closest_marker("nightly") is not None
    if not _NIGHTLY:
        return not is_long
    does_more = bool(_OF_A_NIGHT.intersection(getattr(item, "fixturenames", ())))
    is_drawn = getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
    return is_long or does_more or is_drawn


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
