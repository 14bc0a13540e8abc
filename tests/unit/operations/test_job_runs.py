"""Runs are listed where the submit commands of a root run their jobs, the newest first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from penstock.errors import OperationError
from penstock.operations import JobRun, JobStep, find_run, list_runs
from tests.fixtures.outputs import put_out

__all__ = ["put_out"]

_RUN = (
    "aws emr-serverless start-job-run --region eu-central-1 --application-id 00a --job-driver '{}'"
)
_STEP = "aws emr add-steps --region eu-central-1 --cluster-id j-1 --steps '[]'"


def _at(minute: int) -> datetime:
    return datetime(2026, 11, 21, 4, minute, tzinfo=UTC)


def _run(run_id: str, minute: int, state: str = "SUCCESS") -> dict[str, Any]:
    return {
        "id": run_id,
        "name": "consume",
        "state": state,
        "stateDetails": "",
        "createdAt": _at(minute),
        "updatedAt": _at(minute + 1),
    }


class _Emr:
    """Both services, which count the pages that were read."""

    def __init__(self) -> None:
        self.pages = 0
        self.runs = [[_run("00d", 30, "RUNNING"), _run("00c", 10)], [_run("00b", 5)]]
        times = {"CreationDateTime": _at(20), "EndDateTime": _at(25)}
        failed = {"State": "FAILED", "Timeline": times, "FailureDetails": {"Message": "no memory"}}
        self.steps = [[{"Id": "s-1", "Name": "totals", "Status": failed}]]

    def get_paginator(self, operation: str) -> _Emr:
        self.operation = operation
        return self

    def paginate(self, **asked: str) -> Iterator[dict[str, Any]]:
        if self.operation == "list_steps":
            assert asked == {"ClusterId": "j-1"}
            yield from ({"Steps": page} for page in self.steps)
            return
        assert asked == {"applicationId": "00a"}
        for page in self.runs:
            self.pages += 1
            yield {"jobRuns": page}


@pytest.fixture
def emr(monkeypatch: pytest.MonkeyPatch) -> _Emr:
    found = _Emr()
    monkeypatch.setattr("penstock.operations.job_runs.build_client", lambda *_, **__: found)
    return found


@pytest.fixture
def root(put_out: Callable[..., Path]) -> Path:
    commands = {"consume": _RUN, "replay": _RUN}
    return put_out(submit_commands=commands, emr_cluster={"submit_commands": {"totals": _STEP}})


def test_runs_and_steps_are_listed_together(emr: _Emr, root: Path) -> None:
    found = list_runs(root, 20)

    assert [(each.job, each.run.id, each.state) for each in found] == [
        ("consume", "00d", "RUNNING"),
        ("totals", "s-1", "FAILED"),
        ("consume", "00c", "SUCCESS"),
        ("consume", "00b", "SUCCESS"),
    ]
    assert found[0].run == JobRun("00a", "00d", "eu-central-1")
    assert found[1].run == JobStep("eu-central-1", "j-1", "s-1")
    assert (found[1].detail, found[1].updated_at) == ("no memory", _at(25))


def test_no_more_pages_are_read_than_are_shown(emr: _Emr, root: Path) -> None:
    assert [each.run.id for each in list_runs(root, 2)] == ["00d", "s-1"]
    assert emr.pages == 1


def test_a_run_is_found_by_its_id(emr: _Emr, root: Path) -> None:
    assert find_run(root, "00b").created_at == _at(5)
    with pytest.raises(
        OperationError, match="found no run 00x in application 00a, cluster j-1; `penstock jobs"
    ):
        find_run(root, "00x")


def test_a_denied_call_is_told_with_its_place(
    emr: _Emr, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    denied = ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, "ListJobRuns")

    def deny(**_: Any) -> None:
        raise denied

    monkeypatch.setattr(emr, "paginate", deny)
    with pytest.raises(OperationError, match="the runs of application 00a cannot be listed: "):
        list_runs(root, 1)
