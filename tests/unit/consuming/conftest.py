"""A consumer with nothing read yet."""

from __future__ import annotations

import pytest

from tests.stubs.consuming import FakeErrors, FakeTable, Registry, World


@pytest.fixture
def world() -> World:
    return World(Registry(), FakeTable(), FakeErrors())
