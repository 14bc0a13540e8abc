"""The one broker of a module's two accounts."""

from __future__ import annotations

import pytest


@pytest.fixture
def broker(accounts):
    return accounts.brokers[0]
