"""Producers and consumers in simulated hours of trouble: nothing is lost, twice, wrong or old."""

from __future__ import annotations

import gc
import os
import re
import secrets
import subprocess
import sys
import weakref
from functools import partial

import pytest

from tests.simulation.mutants import CLONE, GROUPS, NOT_SHOWN
from tests.simulation.run import PROGRAMS, run
from tests.simulation.scheduler import Scheduler
from tools.mutants.mutants import load_mutants

pytestmark = pytest.mark.timeout(900)

_FAULTS = 8  # kinds of faults of a service
_SERVICES = ("dynamodb", "glue", "kafka", "s3")


def _simulate(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "tests.simulation", "--processes", "1", *words],
        cwd=CLONE,
        env={**os.environ, "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_no_hour_of_trouble_ends_wrong(trials):
    seed = trials(0, secrets.randbelow(10**9))  # a night has hours of its own

    runs, processes = str(trials(14, 1_000)), str(trials(1, os.cpu_count()))
    words = ("--runs", runs, "--processes", processes, "--seconds", "7200")
    said = _simulate("--seed", str(seed), *words)

    for service in _SERVICES:
        assert len(re.findall(rf"[1-9][\d,]* {service}: ", said)) >= _FAULTS - 2, said
    print(said)


@pytest.mark.parametrize(
    ("seed", "programs"), [(100_158, PROGRAMS), (200_049, PROGRAMS), (535, ["joins"])]
)
def test_an_hour_that_has_ended_wrong_does_so_no_more(seed, programs):
    _simulate("--seed", str(seed), "--runs", "1", "--programs", *programs)


def test_a_seed_runs_the_same_way_again():
    first, again = (
        re.sub(r" in \d+ s of", "", _simulate("--seed", "7", "--runs", "1")) for _ in "12"
    )

    assert first == again


def test_each_bug_that_hours_do_not_show_is_a_mutant():
    known = {each.name for each in load_mutants(CLONE) if each.group in GROUPS}

    assert NOT_SHOWN.keys() <= known


def test_a_program_that_fails_ends_the_simulation(monkeypatch):
    def fail(*_):
        raise ArithmeticError("planted")

    monkeypatch.setattr("penstock.producing.producer.infer_schema", fail)

    with pytest.raises(ArithmeticError, match="planted"):
        run(0)


def test_killed_programs_have_no_more_turns_and_clean_nothing_up():
    scheduler, did = Scheduler(0), []

    def live() -> None:
        try:
            did.append("begun")
            scheduler.sleep(10)
        finally:
            did.append("ended")

    program = scheduler.start("it", live)
    scheduler.run(5)
    program.kill()
    scheduler.run(20)

    assert did == ["begun"]


def _end_while_a_program_sleeps() -> weakref.ref[Scheduler]:
    """Return what a program held that sleeps for longer than the simulation lasts."""
    scheduler, held = Scheduler(0), Scheduler(1)
    found = weakref.ref(held)

    def live(own: Scheduler) -> None:
        try:
            scheduler.sleep(50)
        finally:
            scheduler.sleep(50 + own.now)

    scheduler.start("it", partial(live, held))
    scheduler.run(5)
    scheduler.close()
    return found


def test_programs_hold_nothing_after_the_end():
    held = _end_while_a_program_sleeps()

    gc.collect()

    assert held() is None


def test_a_wait_ends_with_its_program_or_its_time():
    scheduler, ended = Scheduler(0), []

    def parent() -> None:
        quick = scheduler.start("quick", lambda: scheduler.sleep(2))
        slow = scheduler.start("slow", lambda: scheduler.sleep(50))
        ended.append((scheduler.wait(quick, 10), scheduler.now))
        ended.append((scheduler.wait(slow, 10), scheduler.now))

    scheduler.start("parent", parent)
    scheduler.run(100)

    assert ended == [(True, 2), (False, 12)]
