"""Faults last until they have met a call."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from campaign import faults
from campaign.faults import inject
from campaign.senders import Fields
from localcloud.faults import Faults

_WRONG = {"service": "glue", "operation": "RegisterSchemaVersion", "kind": "throttle"}


class _Fields(Fields):
    """Fields of which only the third new one meets a registry that answers wrongly."""

    def __init__(self, set_: Faults) -> None:
        super().__init__()
        self._set = set_

    def grow(self) -> None:
        super().grow()
        if self.level == 4:
            self._set.list()[0].broken = 1


@pytest.fixture
def platform(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(faults, "_ASK_SECONDS", 0.01)
    monkeypatch.setattr(faults, "_PATIENCE_SECONDS", 0.5)
    set_ = Faults()
    return SimpleNamespace(cloud=SimpleNamespace(state=lambda _: set_), faults=set_)


def test_new_fields_come_until_the_registry_answers_wrongly(platform: Any) -> None:
    fields = _Fields(platform.faults)

    assert inject("registry-wrong", platform, fields, {**_WRONG, "seconds": 0.01}) == 1
    assert fields.level == 4
    assert platform.faults.list()[0].calls == 0


def test_a_fault_that_meets_no_call_ends_without_having_happened(platform: Any) -> None:
    fields = _Fields(platform.faults)

    assert inject("answers-wrong", platform, fields, {**_WRONG, "seconds": 0.01}) == 0
    assert fields.level == 1
