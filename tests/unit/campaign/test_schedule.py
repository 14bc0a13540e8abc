"""Schedules: the same ones of a seed, kept as JSON, and their shortest start that fails."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from campaign import __main__ as command
from campaign.faults import _FAULTS
from campaign.schedule import (
    _FAULTS_OF,
    FAULTS,
    PROGRAMS,
    Schedule,
    Step,
    choose_programs,
    make_schedule,
    shrink,
)

_SECONDS = 600


def test_a_seed_makes_one_schedule() -> None:
    assert make_schedule(7, 10) == make_schedule(7, 10)
    assert make_schedule(7, 10) != make_schedule(8, 10)


def test_a_longer_schedule_begins_like_a_shorter_one() -> None:
    shorter = make_schedule(7, 3)

    assert make_schedule(7, 10).prefix(len(shorter.steps)) == shorter


def test_ten_minutes_have_each_fault_in_the_order_of_time() -> None:
    steps = make_schedule(7, _SECONDS / 60, programs=PROGRAMS).steps
    seconds = [each.second for each in steps]

    assert {each.fault for each in steps} == FAULTS
    assert seconds == sorted(seconds)
    assert 0 < seconds[0] < seconds[-1] < _SECONDS


def test_a_schedule_may_have_some_faults_alone() -> None:
    steps = make_schedule(7, _SECONDS / 60, only=["links-cut", "fields-new"]).steps

    assert {each.fault for each in steps} == {"links-cut", "fields-new"}


def test_a_fault_of_another_program_needs_it() -> None:
    alone, beside = (make_schedule(7, _SECONDS / 60, programs=it) for it in ([], ["replay"]))
    faults, more = ({each.fault for each in it.steps} for it in (alone, beside))

    assert more - faults == {"replay-killed"}
    assert FAULTS - more == _FAULTS_OF["staging"] | _FAULTS_OF["cdc"]
    assert (alone.programs, beside.programs) == ((), ("replay",))


def test_seeds_choose_among_the_other_programs() -> None:
    chosen = [choose_programs(seed) for seed in range(20)]

    assert {name for names in chosen for name in names} == PROGRAMS
    assert chosen == [choose_programs(seed) for seed in range(20)]


def test_an_upgrade_from_a_commit_is_the_first_fault(tmp_path: Path) -> None:
    schedule, path = make_schedule(7, 1), tmp_path / "schedule.json"
    schedule.upgrade("1a2b3c").write(path)
    kept = Schedule.read(path)

    assert kept == schedule.upgrade("1a2b3c")
    assert (kept.base, kept.steps[0].fault) == ("1a2b3c", "driver-upgraded")
    assert kept.steps[1:] == schedule.steps


def test_each_fault_of_a_schedule_can_be_injected() -> None:
    assert set(_FAULTS) == FAULTS


def test_a_schedule_is_kept(tmp_path: Path) -> None:
    schedule, path = make_schedule(7, 10, programs=["replay"]), tmp_path / "schedule.json"
    schedule.write(path)

    assert Schedule.read(path) == schedule


@pytest.mark.parametrize("culprit", [1, 2, 5, 8])
def test_the_shortest_start_that_fails_is_found(culprit: int) -> None:
    schedule = Schedule(1, tuple(Step(second, "fields-new", {}) for second in range(8)))

    found = shrink(schedule, lambda prefix: len(prefix.steps) >= culprit)

    assert found == schedule.prefix(culprit)


def test_the_schedule_of_a_planted_bug_is_shrunk_in_its_copy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    taken = []
    monkeypatch.setattr(command, "_run_mutant", lambda *given: taken.append(given) or 1)
    words = ["--minutes", "1", "--only", "links-cut", "--mutant", "late-acknowledgement"]
    monkeypatch.setattr(sys, "argv", ["campaign", *words, "--shrink", "--folder", str(tmp_path)])

    assert command.main() == 1
    path = tmp_path / "schedule.json"
    ((mutant, *given),) = taken
    assert (mutant.name, given) == ("late-acknowledgement", [path, tmp_path, ["--shrink"]])
    assert {each.fault for each in Schedule.read(path).steps} == {"links-cut"}
