"""Only a run that is long enough and shows something is a trial; a soak is kept besides."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from campaign import __main__ as command
from campaign.history import History, Reading, Sample
from campaign.oracle import Kind, Problem
from campaign.run import Fired, Outcome
from campaign.schedule import Schedule, Step
from campaign.soak import Soak

_SAMPLES = tuple(
    Sample(second, {"driver": [Reading(1, 800, 400)]}, {"topic": 40 * i, "function": 0, "job": 0})
    for i, second in enumerate((10.0, 20.0, 1_800.0))
)
_OUTCOME = Outcome(
    (Fired(Step(1_750.0, "broker-killed", {}), 1),),
    (Problem(Kind.LOST, "a record"), Problem(Kind.GROWTH, "handles")),
    History((), {}, (), {}, {}, {}),
    12.0,
    7,
    _SAMPLES,
    80.04,
)
_SCHEDULE = Schedule(7, (), ("cdc",))
_MISSED = Fired(Step(1_760.0, "broker-killed", {}), 0)


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("systems.trials.LINES", tmp_path / "faults.jsonl")
    monkeypatch.setattr(command, "KEPT", tmp_path / "soak.json")
    return tmp_path


def test_a_soak_is_a_trial_and_is_kept_whatever_the_oracle_found(kept: Path) -> None:
    command._record(_OUTCOME, _SCHEDULE, 30)

    (line,) = (json.loads(it) for it in (kept / "faults.jsonl").read_text().splitlines())
    assert line["test"] == "python -m campaign --soak --minutes 30 --seed 7"
    assert [line[it] for it in ("row", "trials", "lost", "twice", "wrong")] == ["soak", 1, 1, 0, 1]
    soak = Soak.read(kept / "soak.json")
    assert soak is not None
    assert (soak.seed, soak.minutes, soak.peak, soak.drivers, soak.problems) == (7, 30, 80.0, 7, 2)
    assert soak.faults == [1_750.0]


def test_what_the_oracle_found_counts_though_a_fault_did_not_happen(kept: Path) -> None:
    command._record(replace(_OUTCOME, fired=(*_OUTCOME.fired, _MISSED)), _SCHEDULE, 30)

    (line,) = (json.loads(it) for it in (kept / "faults.jsonl").read_text().splitlines())
    assert [line[it] for it in ("trials", "lost", "wrong")] == [1, 1, 1]
    soak = Soak.read(kept / "soak.json")
    assert soak is not None
    assert (soak.problems, soak.faults) == (2, [1_750.0])


@pytest.mark.parametrize(
    ("schedule", "words"),
    [(_SCHEDULE, ""), (_SCHEDULE.upgrade("1a2b3c"), " --from 1a2b3c")],
    ids=["this code", "an upgrade"],
)
def test_minutes_of_mixed_faults_are_a_trial_of_their_own(
    kept: Path, schedule: Schedule, words: str
) -> None:
    fired = (Fired(Step(130.0, "broker-killed", {}), 1),)
    command._record(replace(_OUTCOME, peak=0.0, fired=fired), schedule, 30)

    (line,) = (json.loads(it) for it in (kept / "faults.jsonl").read_text().splitlines())
    assert line["test"] == f"python -m campaign --programs cdc{words} --minutes 30 --seed 7"
    assert [line[it] for it in ("row", "trials", "lost", "twice", "wrong")] == ["mixed", 1, 1, 0, 1]
    assert not (kept / "soak.json").exists()


_SHORT = (Fired(Step(90.0, "broker-killed", {}), 1),)


@pytest.mark.parametrize(
    "outcome",
    [
        replace(_OUTCOME, peak=0.0, fired=_SHORT),
        replace(_OUTCOME, fired=()),
        replace(_OUTCOME, fired=(_MISSED,), problems=()),
        replace(_OUTCOME, fired=(Fired(Step(900.0, "broker-killed", {}), 1),)),
    ],
)
def test_a_run_that_is_too_short_or_shows_nothing_is_not_kept(kept: Path, outcome: Outcome) -> None:
    command._record(outcome, _SCHEDULE, 30)

    assert list(kept.iterdir()) == []
