"""A cache over a registry that counts its calls, and one version in it."""

from __future__ import annotations

import pytest

from penstock.registry import CachedRegistry, SchemaVersion
from tests.stubs.clock import FakeTime
from tests.stubs.registries import CountedRegistry, Reading


@pytest.fixture
def inner() -> CountedRegistry:
    return CountedRegistry()


@pytest.fixture
def cached(inner: CountedRegistry, time: FakeTime) -> CachedRegistry:
    return CachedRegistry(inner, clock=time.clock)


@pytest.fixture
def known(inner: CountedRegistry, reading: Reading) -> SchemaVersion:
    version = inner.register("readings", reading()).version
    inner.calls.clear()
    return version
