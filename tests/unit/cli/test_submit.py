"""`penstock submit` starts a job and names its run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from penstock.cli import main
from penstock.errors import OperationError
from penstock.operations import JobRun, JobStep


def test_a_job_is_submitted_with_more_flags(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[Any] = []

    def submit(*words: Any) -> JobRun:
        asked.extend(words)
        return JobRun("00a", "00b", "eu-central-1")

    monkeypatch.setattr("penstock.cli._submit.submit_job", submit)

    assert main(["submit", "replay", "--reason", "unknown-schema"], {}) == 0

    assert asked == [Path("infra/consumer"), "replay", ["--reason", "unknown-schema"]]
    printed = capsys.readouterr().out
    assert printed == "submitted replay as job run 00b of application 00a\n"


def test_a_step_is_awaited_if_asked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    step = JobStep("eu-central-1", "j-1", "s-1")
    awaited: list[Any] = []
    monkeypatch.setattr("penstock.cli._submit.submit_job", lambda *_: step)
    monkeypatch.setattr(
        "penstock.cli._submit.wait_for_job", lambda run: awaited.append(run) or "COMPLETED"
    )

    assert main(["submit", "--wait", "totals"], {}) == 0
    assert main(["submit", "totals"], {}) == 0

    assert awaited == [step]
    submitted = "submitted totals as step s-1 of cluster j-1\n"
    completed = "step s-1 of cluster j-1 is COMPLETED\n"
    assert capsys.readouterr().out == submitted + completed + submitted


def test_a_rejected_job_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def submit(*words: Any) -> JobRun:
        raise OperationError("the job was not submitted: no such role\nnor another \x1b[2J")

    monkeypatch.setattr("penstock.cli._submit.submit_job", submit)

    assert main(["submit", "--consumer", "elsewhere", "fold"], {}) == 1
    assert capsys.readouterr().err == (
        "penstock: the job was not submitted: no such role\nnor another \\x1b[2J\n"
    )
