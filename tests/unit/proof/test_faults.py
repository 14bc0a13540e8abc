"""The oracle of faults, and the words of its counts, on topics and tables that are made up."""

from __future__ import annotations

from argparse import Namespace
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from proof.faults import __main__ as command
from proof.faults.kinds import FAULTS
from proof.faults.oracle import Count, Record, count
from proof.faults.results import FILE, Outcome, Results
from systems.spark import find_error

_TOPIC = [Record(f"{number}", b"value %d" % number) for number in range(4)]
_KEPT = Count(sent=4, letters=0, lost=0, twice=0, strange=0)


@pytest.mark.parametrize(
    ("rows", "letters", "found"),
    [
        (["0", "1", "2", "3"], [], _KEPT),
        (["0", "2", "3"], [], replace(_KEPT, lost=1)),
        (["0", "2", "3"], [b"value 1"], replace(_KEPT, letters=1)),
        (["0", "2", "3"], [b"value"], replace(_KEPT, lost=1)),
        (["0", "1", "1", "1", "2", "3"], [], replace(_KEPT, twice=2)),
        (["0", "1", "2", "3"], [b"value 1"], _KEPT),
        (["0", "1", "2", "3", "4", "4"], [], replace(_KEPT, strange=2)),
        ([], [], replace(_KEPT, lost=4)),
    ],
)
def test_rows_and_letters_are_counted(rows: list[str], letters: list[bytes], found: Count) -> None:
    assert count(_TOPIC, rows, letters) == found


def test_a_record_that_is_twice_in_the_topic_may_be_two_rows() -> None:
    assert count([*_TOPIC, _TOPIC[1]], ["0", "1", "1", "2", "3"], []) == _KEPT


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (Outcome(_KEPT, 0, 2, ""), "kept"),
        (Outcome(replace(_KEPT, lost=1_200, twice=3), 0, 0, ""), "**1,200 lost**, **3 twice**"),
        (Outcome(replace(_KEPT, letters=7), 0, 0, ""), "7 in dead letters"),
        (Outcome(_KEPT, 50, 0, "Error"), "**begun again by hand**"),
        (Outcome(replace(_KEPT, strange=2), 0, 0, ""), "**2 that nobody sent**"),
    ],
)
def test_an_outcome_is_said_in_a_few_words(outcome: Outcome, words: str) -> None:
    assert outcome.describe() == words


def test_a_table_has_a_column_for_each_system_and_says_what_did_not_run(tmp_path: Path) -> None:
    kept, lost = Outcome(_KEPT, 0, 0, ""), Outcome(replace(_KEPT, lost=1), 0, 0, "An `error`")
    run = {"day": "2026-11-28", "commit": "abc", "seed": 1}
    results = Results({}, {}).keep("a", run, {"x": lost}).keep("a", run, {"x": kept, "y": lost})
    results = results.keep("b", run, {"x": kept})
    results.write(tmp_path / "faults.json")

    read = Results.read(tmp_path / "faults.json")
    titles, faults = {"x": "System X", "y": "System Y", "z": "System Z"}, {"a": "A", "b": "B"}
    assert read == results
    assert list(read.make_table(titles, faults)) == [
        "| fault | System X | System Y |",
        "| --- | --- | --- |",
        "| A | kept | **1 lost** |",
        "| B | kept | - |",
    ]
    assert list(read.describe_runs()) == [
        "The trials have 4 to 4 records each. They are of",
        "2026-11-28, `abc`, seed 1.",
    ]
    assert list(read.list_troubles(titles, faults)) == [("A: System Y", "An `error`")]


def test_a_newer_run_in_which_a_fault_did_not_happen_takes_the_place_of_its_trial(
    tmp_path: Path,
) -> None:
    kept = Outcome(_KEPT, 0, 0, "An `error`")
    old = {"day": "2026-11-28", "commit": "abc", "seed": 1}
    new = old | {"commit": "def"}
    results = Results({}, {}).keep("a", old, {"x": kept, "y": kept}).keep("a", new, {"x": None})
    results.write(tmp_path / "faults.json")

    read = Results.read(tmp_path / "faults.json")
    titles, faults = {"x": "System X", "y": "System Y"}, {"a": "A"}
    assert read == results
    assert [*read.make_table(titles, faults)][2:] == ["| A | no trial | kept |"]
    assert [*read.describe_runs()] == [
        "The trials have 4 to 4 records each. They are of",
        "2026-11-28, `abc`, seed 1;",
        "2026-11-28, `def`, seed 1.",
    ]
    assert [*read.list_troubles(titles, faults)] == [("A: System Y", "An `error`")]


def test_the_outcomes_of_a_run_are_kept_also_of_faults_that_did_not_happen(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kept: list[Any] = []
    found = {"flink": None, "iceberg-sink": Outcome(_KEPT, 0, 0, "")}
    stage = SimpleNamespace(run=lambda *_: found)
    monkeypatch.setattr(command, "running_stage", lambda *_: nullcontext(stage))
    monkeypatch.setattr(Results, "write", lambda results: kept.append(results.outcomes["broker"]))
    monkeypatch.setattr(Results, "read", lambda: Results({}, {}))
    words = Namespace(faults=["broker"], systems=[*found], seed=1, quiet_seconds=60)

    command._run(words, tmp_path)

    assert kept == [found]


def test_the_committed_counts_are_of_faults_and_systems_that_there_are() -> None:
    outcomes = Results.read(FILE).outcomes

    assert outcomes
    for name, found in outcomes.items():
        assert set(found) <= set(FAULTS[name].systems)


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ("x\npenstock.errors.LostLeaseError: taken\n: java.lang.Error: x", "penstock.errors."),
        ("py4j.protocol.Py4JJavaError: An error\n: a.b.GlueException: 500\n\tat x", "a.b.Glue"),
        ("it ended", ""),
    ],
)
def test_the_error_of_a_driver_is_its_own_or_the_one_below_python(said: str, error: str) -> None:
    assert find_error(said).startswith(error)
    assert bool(find_error(said)) == bool(error)
