"""The platform of tests of faults."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from campaign import faults
from localcloud.faults import Faults


@pytest.fixture
def platform(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A platform that has only the faults which are set, and patience for half a second."""
    monkeypatch.setattr(faults, "_ASK_SECONDS", 0.01)
    monkeypatch.setattr(faults, "_PATIENCE_SECONDS", 0.5)
    set_ = Faults()
    return SimpleNamespace(cloud=SimpleNamespace(state=lambda _: set_), faults=set_)
