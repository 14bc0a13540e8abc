"""Faults last until they have met a call."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from campaign import faults
from campaign.faults import inject
from campaign.senders import Fields
from localcloud.door.operations import Call, HttpAnswer
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


class _Driver(Fields):
    """A driver of which the second new field begins a batch that comes to its end."""

    lock = nullcontext()
    kills = 0

    def find_working(self) -> None:
        self.working = True

    def kill(self) -> bool:
        self.kills += 1
        return True

    @contextmanager
    def trapped(self, trap: Any) -> Any:
        self.trap = trap
        yield

    def grow(self) -> None:
        super().grow()
        if self.level == 3:
            self.answers = [self._call("offsets/7"), self._call("commits/7"), self._call("data/x")]

    def _call(self, key: str) -> HttpAnswer | None:
        params = {"Key": f"checkpoint/{key}"}
        call = Call(None, None, "s3", "PutObject", params, lambda: _ANSWER)  # type: ignore[arg-type]
        answer: HttpAnswer | None = self.trap.around(call, call.forward)
        return answer


_ANSWER = HttpAnswer(200, (), b"")


@pytest.mark.parametrize(
    ("moment", "answers", "kills"),
    [
        ("after the tables, before Spark's commit", [_ANSWER, None, _ANSWER], 1),
        ("after the files, before they are staged", [_ANSWER] * 3, 0),
    ],
    ids=["met", "not met"],
)
def test_a_driver_is_killed_at_a_moment_of_a_batch_with_new_fields(
    platform: Any, moment: str, answers: list[HttpAnswer | None], kills: int
) -> None:
    driver = _Driver()
    platform.job = platform.world = driver

    assert inject("driver-killed-at", platform, driver, {"moment": moment}) == kills
    assert driver.working
    assert (driver.answers, driver.kills) == (answers, kills)
