"""Each mutant can be planted in the current code, and its test exists."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from tools.mutants.mutants import Mutant, find_problem, load_mutants

_CLONE = Path(__file__).parents[3]
_MUTANTS = load_mutants(_CLONE)
_KINDS = ("bounds", "duplicates", "loss", "order", "secrets")
_HERE = Path(__file__).relative_to(_CLONE).as_posix()


def test_every_mutant_can_be_planted() -> None:
    problems = {each.name: find_problem(each, _CLONE) for each in _MUTANTS}

    assert {name: problem for name, problem in problems.items() if problem} == {}


def test_each_kind_has_enough_mutants() -> None:
    counts = Counter(each.group for each in _MUTANTS)

    assert sum(counts[kind] for kind in _KINDS) >= 60
    assert min(counts[kind] for kind in _KINDS) >= 10
    assert Counter(each.name for each in _MUTANTS).most_common(1)[0][1] == 1


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            {"before": 3 * "gone"},
            r"has the text '(gone){3}' 0 times, expected once: the code has ch",
        ),
        ({"before": "def test_"}, r"has the text 'def test_' \d times, expected once"),
        ({"file": "no_such_file.py"}, r"^found no file no_such_file.py, expected the one"),
        ({"after": "def test_x(:"}, r"invalid syntax"),
        ({"test": f"{_HERE}::test_no_such"}, r"^found no test .*::test_no_such, expected the one"),
        ({"test": "no_such_file.py::test"}, r"^found no test no_such_file.py::test, expected"),
    ],
)
def test_a_mutant_that_cannot_be_planted_is_found(change: dict[str, str], problem: str) -> None:
    name = "def test_every_mutant_can_be_planted"
    test = f"{_HERE}::{name.removeprefix('def ')}[any]"
    mutant = Mutant("loss", "one", "a promise", _HERE, f"\n{name}()", f"\n{name}_2()", test)

    assert find_problem(mutant, _CLONE) == ""
    assert re.search(problem, find_problem(replace(mutant, **change), _CLONE))
