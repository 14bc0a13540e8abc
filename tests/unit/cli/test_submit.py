"""`penstock submit` starts a job and names its run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from penstock.cli import main
from penstock.errors import JobError, OperationError
from penstock.operations import JobRun, JobStep, RunCounts
from tests.fixtures.commands import read_json
from tests.stubs.terminal import Terminal


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
        "penstock.cli._submit.wait_for_job", lambda run, **_: awaited.append(run) or "COMPLETED"
    )

    assert main(["submit", "--wait", "totals"], {}) == 0
    assert main(["submit", "totals"], {}) == 0

    assert awaited == [step]
    submitted = "submitted totals as step s-1 of cluster j-1\n"
    completed = "step s-1 of cluster j-1 is COMPLETED; its log has what it wrote\n"
    assert capsys.readouterr().out == submitted + completed + submitted


def test_a_job_and_its_end_are_told_as_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = {"totals": JobStep("eu-central-1", "j-1", "s-1"), "fold": JobRun("00a", "00b", "x")}
    monkeypatch.setattr("penstock.cli._submit.submit_job", lambda _, job, flags: runs[job])
    monkeypatch.setattr("penstock.cli._submit.wait_for_job", lambda *_, **__: "COMPLETED")

    assert main(["submit", "--output", "json", "--wait", "totals", "--output", "json"], {}) == 0
    submitted, ended = read_json("submit", capsys.readouterr().out)
    assert main(["submit", "--output", "json", "fold"], {}) == 0
    (run,) = read_json("submit", capsys.readouterr().out)

    assert submitted == {
        "job": "totals", "id": "s-1", "applicationId": None, "clusterId": "j-1",
        "region": "eu-central-1", "state": None, "rows": None, "deadLetters": None, "lost": None,
    }  # fmt: skip
    assert ended == submitted | {"state": "COMPLETED"}
    assert (run["id"], run["applicationId"], run["clusterId"]) == ("00b", "00a", None)


def test_a_job_that_fails_is_submitted_and_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def wait(*_: Any, **__: Any) -> str:
        raise JobError("job run 00b of application 00a is FAILED: no such class")

    monkeypatch.setattr("penstock.cli._submit.submit_job", lambda *_: JobRun("00a", "00b", "x"))
    monkeypatch.setattr("penstock.cli._submit.wait_for_job", wait)

    assert main(["submit", "--output", "json", "--wait", "fold"], {}) == 2

    printed = capsys.readouterr()
    assert [each["id"] for each in read_json("submit", printed.out)] == ["00b"]
    assert printed.err == "penstock: job run 00b of application 00a is FAILED: no such class\n"


def test_a_wait_that_cannot_go_on_says_nothing_of_the_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def wait(*_: Any, **__: Any) -> str:
        raise OperationError("job run 00b of application 00a cannot be described: expired")

    monkeypatch.setattr("penstock.cli._submit.submit_job", lambda *_: JobRun("00a", "00b", "x"))
    monkeypatch.setattr("penstock.cli._submit.wait_for_job", wait)

    assert main(["submit", "--wait", "fold"], {}) == 1

    told = "penstock: job run 00b of application 00a cannot be described: expired\n"
    assert capsys.readouterr().err == told


@pytest.mark.parametrize("output", ["text", "json"])
def test_a_wait_shows_the_state_on_a_terminal_and_never_in_the_output(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], output: str
) -> None:
    def wait(run: JobRun, report: Any) -> str:
        report(f"{run} is RUNNING", None, None)
        return "SUCCESS"

    monkeypatch.setattr("penstock.cli._submit.submit_job", lambda *_: JobRun("00a", "00b", "x"))
    monkeypatch.setattr("penstock.cli._submit.wait_for_job", wait)
    monkeypatch.setattr("penstock.cli._submit.count_rows", lambda _: RunCounts(3))

    with patch.object(sys, "stderr", Terminal()) as stderr:
        assert main(["submit", "--output", output, "--wait", "fold"], {}) == 0

    assert "\r\x1b[Kjob run 00b of application 00a is RUNNING, 0 s\r\x1b[K" in stderr.getvalue()
    assert "RUNNING" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("counts", "code", "said"),
    [
        (RunCounts(1234), 0, "is SUCCESS: 1,234 rows, 0 dead letters"),
        (
            RunCounts(5, {"oversize": 1, "schema-conflict": 7}),
            1,
            "(oversize 1, schema-conflict 7; ",
        ),
        (RunCounts(5, lost=2), 1, ", 2 records that Kafka had deleted"),
        (None, 0, "is SUCCESS; its log has what it wrote"),
    ],
)
def test_a_wait_judges_what_the_run_wrote(
    counts: RunCounts | None,
    code: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("penstock.cli._submit.submit_job", lambda *_: JobRun("00a", "00b", "x"))
    monkeypatch.setattr("penstock.cli._submit.wait_for_job", lambda *_, **__: "SUCCESS")
    monkeypatch.setattr("penstock.cli._submit.count_rows", lambda _: counts)

    assert main(["submit", "--wait", "fold"], {}) == code
    assert said in capsys.readouterr().out
    assert main(["submit", "--output", "json", "--wait", "fold"], {}) == code
    _, ended = read_json("submit", capsys.readouterr().out)

    assert ended["rows"] == (counts.rows if counts else None)


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
