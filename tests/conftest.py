"""What every test may use: how many trials a randomised test runs, and from which seed."""

from __future__ import annotations

import os
import random
from collections.abc import Callable

import hypothesis
import pytest

_NIGHTLY = os.environ.get("NIGHTLY") == "1"

hypothesis.settings.register_profile("pr", max_examples=100, deadline=None)
hypothesis.settings.register_profile("nightly", max_examples=2_000, deadline=None)
hypothesis.settings.load_profile("nightly" if _NIGHTLY else "pr")


@pytest.fixture(scope="session")
def trials() -> Callable[[int, int], int]:
    """Choose between the number of trials for `make pr` and the one for `make nightly`."""
    return lambda pr, nightly: nightly if _NIGHTLY else pr


@pytest.fixture
def seeded(request: pytest.FixtureRequest) -> random.Random:
    """Give randomness that repeats: set SEED to replay the one a failure printed."""
    seed = int(os.environ.get("SEED") or random.SystemRandom().randrange(2**32))
    request.node.add_report_section("setup", "seed", f"replay with SEED={seed}")
    return random.Random(seed)
