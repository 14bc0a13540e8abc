"""Clusters whose brokers do not run."""

from __future__ import annotations

import pytest

from localcloud.testing.pretending import pretend_brokers


@pytest.fixture(scope="module")
def pretended(cloud):
    """The brokers that do not run, by the name of their cluster."""
    with pretend_brokers(cloud) as known:
        yield known
