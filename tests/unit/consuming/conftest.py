"""A consumer with nothing read yet."""

from __future__ import annotations

import pytest

from tests.stubs.consuming import FakeErrors, FakeTable, World
from tests.stubs.registries import CountedRegistry


@pytest.fixture
def world() -> World:
    return World(CountedRegistry(), FakeTable(), FakeErrors())
