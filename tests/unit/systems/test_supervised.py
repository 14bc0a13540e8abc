"""A driver that stalls, and one that takes over or not, as processes that are made up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from systems import spark, supervised
from systems.place import Place
from systems.spark import SparkJob
from systems.supervised import Stall, SupervisedJob

_NUMBERS = count(1)
_BATCH = '"BatchDuration"'


@dataclass
class _Driver:
    """A driver; one that wakes ends, or does not."""

    said: str = _BATCH
    ends: bool = True
    code: int | None = None
    pid: int = field(default_factory=lambda: next(_NUMBERS))

    def __enter__(self) -> _Driver:
        return self

    def __exit__(self, *_: object) -> None:
        self.code = -9 if self.code is None else self.code

    def stop(self) -> None: ...

    def wake(self) -> None:
        self.code = 1 if self.ends else None

    def tell(self, most: int) -> str:
        return self.said


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervised, "_RUN_SECONDS", 0.1)
    monkeypatch.setattr(supervised, "_END_SECONDS", 0.1)
    monkeypatch.setattr(supervised, "is_stopped", lambda _: True)
    monkeypatch.setattr(supervised, "read_mb", lambda *_: 0)


@pytest.mark.parametrize(
    ("drivers", "trouble", "codes"),
    [
        ([_Driver(), _Driver()], "", [1]),
        ([_Driver(ends=False), _Driver()], "it did not end in", []),
        ([_Driver(), _Driver(said="")], "no driver has written a batch", [1]),
    ],
    ids=["ends", "goes on", "nobody takes over"],
)
def test_a_stalled_driver_is_woken_however_the_next_one_does(
    drivers: list[_Driver], trouble: str, codes: list[int]
) -> None:
    others: Iterator[Any] = iter(drivers)
    job = SupervisedJob(lambda: next(others))

    found = job.stall(0)

    assert found.stood_still
    assert trouble in found.trouble
    assert bool(found.trouble) == bool(trouble)
    assert [each.code for each in job.ends] == codes
    assert drivers[0].code is not None


def test_what_went_wrong_with_a_stalled_driver_is_its_trouble(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(spark, "make_errors", lambda *_: {})
    monkeypatch.setattr(spark, "JobProcess", lambda *_: _Driver())
    monkeypatch.setattr(SupervisedJob, "stall", lambda *_: Stall(True, "it did not end"))
    job = SparkJob(Place("", "", "", tmp_path), "topic")

    assert job.describe_trouble() == ""
    assert job.stall(0)
    assert job.describe_trouble() == "it did not end"
