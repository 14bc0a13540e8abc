"""`penstock jobs` lists runs, and shows one with its batches."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from penstock.cli import main
from penstock.operations import Batch, JobRun, JobStep, ListedRun
from tests.fixtures.commands import read_json

_MOMENT = datetime(2026, 11, 21, 4, 6, tzinfo=UTC)
_RUN = ListedRun("consume", JobRun("00ab", "00fk", "x"), "FAILED", "no memory", _MOMENT, _MOMENT)
_STEP = ListedRun("totals", JobStep("x", "j-1", "s-1"), "RUNNING", "", _MOMENT, _MOMENT)
_BATCHES = (
    Batch(13, {"schema-conflict": 8}, 0, 0, _MOMENT, 2.5, 120),
    Batch(4, {}, 1, None, None, None, None),
)


@pytest.fixture(autouse=True)
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    found: list[Any] = []

    def list_runs(*words: Any) -> list[ListedRun]:
        found.append(words)
        return [_STEP, _RUN]

    runs = {each.run.id: each for each in (_RUN, _STEP)}
    monkeypatch.setattr("penstock.cli._jobs.list_runs", list_runs)
    monkeypatch.setattr("penstock.cli._jobs.find_run", lambda _, run_id: runs[run_id])
    monkeypatch.setattr("penstock.cli._jobs.read_batches", lambda _: _BATCHES)
    return found


def test_runs_are_listed(capsys: pytest.CaptureFixture[str], asked: list[Any]) -> None:
    assert main(["jobs", "list"], {"PENSTOCK_CONSUMER_ROOT": "roots/mine"}) == 0
    assert main(["jobs", "list", "--count=1", "--output=json"], {}) == 0

    assert asked == [(Path("roots/mine"), 20), (Path("infra/consumer"), 1)]
    header, step, run, *lines = capsys.readouterr().out.splitlines()
    assert header.split() == ["JOB", "ID", "STATE", "SUBMITTED", "SINCE", "DETAIL"]
    assert step.split()[:3] == ["totals", "s-1", "RUNNING"]
    assert run.endswith("no memory")
    first, second = read_json("jobs list", "\n".join([*lines, ""]))
    assert (first["clusterId"], first["applicationId"]) == ("j-1", None)
    assert (second["clusterId"], second["applicationId"]) == (None, "00ab")


def test_a_run_is_shown_with_its_batches(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["jobs", "show", "00fk"], {}) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith("consume: job run 00fk of application 00ab is FAILED since 2026-")
    assert printed[1] == "no memory"
    assert printed[3].split() == ["0", "2026-11-21T04:06:00+00:00", "13", "8", "0", "2.5", "120"]
    assert printed[4].split() == ["4", "0", "1"]

    assert main(["jobs", "show", "00fk", "--output=json"], {}) == 0
    (shown,) = read_json("jobs show", capsys.readouterr().out)
    assert [each["deadLetters"] for each in shown["batches"]] == [{"schema-conflict": 8}, {}]


def test_a_step_has_no_batches(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["jobs", "show", "s-1"], {}) == 0
    assert capsys.readouterr().out.splitlines()[1] == (
        "its batches are in its log, which is elsewhere"
    )
    assert main(["jobs", "show", "s-1", "--output=json"], {}) == 0
    (shown,) = read_json("jobs show", capsys.readouterr().out)
    assert shown["batches"] is None
