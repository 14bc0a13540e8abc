"""One broker for all tests of this folder, and a place for what a function writes down."""

from __future__ import annotations

import pytest

from localcloud.testing.mappings import broker

__all__ = ["broker"]


@pytest.fixture
def trace(tmp_path):
    """Where the function writes down what it was given."""
    return tmp_path / "trace.jsonl"
