"""Mutants are planted one at a time in a copy, and only a test that fails by itself kills one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.mutants.mutants import Mutant
from tools.mutants.run import copy_clone, plant_all

_CODE = "LIMIT = 3\n\n\ndef double(n):\n    return 2 * n\n"
_TESTS = """
import time

import pytest

from code_of_ours import LIMIT, double


@pytest.fixture
def limit():
    return LIMIT * 1


@pytest.mark.parametrize("n", [0, 1])
def test_double(n):
    assert double(n) == 2 * n


def test_limit(limit):
    assert limit == 3


def test_hang():
    while LIMIT > 3:
        time.sleep(0.01)


def test_unloved():
    double(1)


def test_red():
    assert LIMIT > 3
"""


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    # Of the plugins only the timeouts are needed, and their imports are most of pytest's start.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p pytest_timeout")
    (tmp_path / "src").mkdir()
    (tmp_path / "src/code_of_ours.py").write_text(_CODE)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_it.py").write_text(_TESTS)
    (tmp_path / ".cache").mkdir()
    return tmp_path


def _mutant(name: str, test: str, before: str, after: str) -> Mutant:
    return Mutant(
        "g", name, "it", "src/code_of_ours.py", before, after, f"tests/test_it.py::{test}"
    )


def test_mutants_are_killed_by_failures_of_their_tests_alone(clone: Path) -> None:
    mutants = [
        _mutant("killed", "test_double", "2 * n", "n"),
        _mutant("survives", "test_unloved", "2 * n", "n"),
        _mutant("error-before", "test_limit", "LIMIT = 3", "LIMIT = None"),
        _mutant("cannot-run", "test_double", "2 * n", "2 * m"),
        _mutant("hangs", "test_hang", "LIMIT = 3", "LIMIT = 4"),
    ]
    told: list[str] = []

    red, verdicts = plant_all(mutants, clone, 2, 2, lambda each: told.append(each.mutant.name))

    assert red == {}
    outcomes = {each.mutant.name: each.outcome for each in verdicts}
    assert {name: outcome.partition(":")[0] for name, outcome in outcomes.items()} == {
        "killed": "failed",
        "survives": "passed",
        "error-before": "error",
        "cannot-run": "failure",
        "hangs": "failure",
    }
    assert "NameError: name 'm' is not defined" in outcomes["cannot-run"]
    assert "Timeout" in outcomes["hangs"]
    assert sorted(told) == sorted(outcomes)
    assert (clone / "src/code_of_ours.py").read_text() == _CODE


def test_nothing_is_planted_if_a_test_is_red_without_a_bug(clone: Path) -> None:
    mutants = [
        _mutant("one", "test_red", "LIMIT = 3", "LIMIT = 2"),
        _mutant("two", "test_double", "2 * n", "n"),
    ]

    red, verdicts = plant_all(mutants, clone, 1, 5, lambda verdict: None)

    assert (red, verdicts) == ({"tests.test_it::test_red": "failed"}, [])


def test_a_bug_in_a_copy_is_in_no_other(
    clone: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Nor is what its tests count. What is large is linked."""
    paths = ("jars/names/src/Names.java", "jars/names/lib/avro.jar", ".cache/tests/faults.jsonl")
    for path in paths:
        file = clone / path
        file.parent.mkdir(parents=True)
        file.write_text("good")
    copy = tmp_path_factory.mktemp("copies") / "0"

    copy_clone(clone, copy)

    source, library, counts = (copy / path for path in paths)
    assert library.samefile(clone / paths[1])
    source.write_text("bug")
    assert (clone / paths[0]).read_text() == "good"
    assert not counts.exists()
