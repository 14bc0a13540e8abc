"""A job of Flink that does not start again, in a process that is made up."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import pytest

from systems import flink
from systems.flink import FlinkJob
from systems.place import Place


class _Worker:
    """A process whose job starts as the next answer says; one that did not start has no trouble."""

    answers: ClassVar[list[str]] = []

    def __init__(self, *_: object) -> None:
        self._why = "it was not started"

    def ask(self, verb: str, **_: Any) -> str:
        if verb == "trouble":
            return ""
        if verb == "start":
            self._why = self.answers.pop(0)
        return self._why

    def kill(self) -> bool:
        return True


@pytest.fixture
def job(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FlinkJob:
    monkeypatch.setattr(flink, "Worker", _Worker)
    monkeypatch.setattr(flink, "_class_path", lambda: "")
    monkeypatch.setattr(_Worker, "answers", ["", "Glue is down", "Glue is down", ""])
    return FlinkJob(Place("", "", "", tmp_path), "topic")


def test_a_job_that_does_not_start_after_a_kill_is_begun_until_it_does(job: FlinkJob) -> None:
    job.start()

    assert job.kill()
    assert job.describe_trouble() == "Glue is down"
    job.tend()
    job.tend()
    job.tend()
    assert (job.describe_trouble(), job.restarts) == ("", 2)


def test_a_job_that_does_not_start_at_first_is_an_error(job: FlinkJob) -> None:
    job.start()

    with pytest.raises(AssertionError, match="Glue is down"):
        job.start()
