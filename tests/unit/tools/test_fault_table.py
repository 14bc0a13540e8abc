"""A row has the trials of all its tests; a test that failed is a failure in it."""

from __future__ import annotations

import pytest

from systems.trials import Trials
from tools import fault_table

_COUNTS = ("trials", "records", "lost", "twice", "wrong")


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """Keep lines, and return the counts of the rows that are made of them."""
    lines, results = tmp_path / "faults.jsonl", tmp_path / "results.json"
    monkeypatch.setattr("systems.trials.LINES", lines)
    monkeypatch.setattr(fault_table, "LINES", lines)
    monkeypatch.setattr(fault_table, "_RESULTS", results)

    def keep(*found):
        lines.unlink(missing_ok=True)
        for test, trials in found:
            trials.keep(test)
        assert fault_table.main() == 0
        rows = fault_table.read_results()
        return {row: [getattr(rows[row], name) for name in _COUNTS] for row in rows}

    return keep


_PASSED = Trials("links", 4, 40)


def test_the_tests_of_a_row_are_added_up(kept):
    rows = kept(("a", _PASSED), ("b", Trials("links", 1, 10)), ("a", Trials("clock", 2, 5)))

    assert rows == {"links": [5, 50, 0, 0, 0], "clock": [2, 5, 0, 0, 0]}


def test_trials_are_added_up_once(kept):
    rows = kept(("a", _PASSED))

    assert fault_table.main() == 0
    assert fault_table.read_results()["links"].trials == rows["links"][0]


def test_three_runs_of_a_row_are_added_up(kept, monkeypatch):
    commits = iter("abcd")
    monkeypatch.setattr(fault_table, "find_commit", lambda: next(commits))

    counted = [kept(("a", Trials("links", trials, 10)))["links"][:2] for trials in (1, 2, 3, 4)]

    assert counted == [[1, 10], [3, 20], [6, 30], [9, 30]]
    assert fault_table.read_results()["links"].commit == "`b` to `d`"


def test_a_failure_that_does_not_come_again_ends_with_the_runs_before_it(kept):
    lost = ("a", Trials("links", 1, 10, 2, failed=True))
    kept(("a", _PASSED))

    assert kept(lost) == {"links": [5, 50, 2, 0, 0]}
    assert kept(("a", _PASSED)) == {"links": [4, 40, 0, 0, 0]}
    assert kept(("a", _PASSED)) == {"links": [8, 80, 0, 0, 0]}


@pytest.mark.parametrize(
    ("failed", "row"),
    [
        pytest.param(Trials("links", failed=True), [1, 0, 0, 0, 1], id="before a trial"),
        pytest.param(Trials("links", 3, failed=True), [3, 0, 0, 0, 1], id="before the check"),
        pytest.param(Trials("links", 0, 9, 2, failed=True), [1, 9, 2, 0, 0], id="in the check"),
        pytest.param(Trials("links", 3, 9, 0, 1, 1), [3, 9, 0, 1, 1], id="a soak"),
    ],
)
def test_a_failure_is_in_its_row_whenever_it_came(kept, failed, row):
    assert kept(("a", failed)) == {"links": row}


def test_a_failure_is_not_replaced_by_the_other_parameters(kept):
    found = kept(("a[1]", Trials("links", failed=True)), ("a[2]", Trials("links", 1, 60)))

    assert found == {"links": [2, 60, 0, 0, 1]}


_LOST = Trials("links", 1, 40, 5, failed=True)


@pytest.mark.parametrize(
    ("first", "second", "row"),
    [
        (_LOST, _PASSED, [1, 40, 5, 0, 0]),
        (_LOST, Trials("links", failed=True), [1, 40, 5, 0, 0]),
        (Trials("links", 1, 1), _PASSED, [4, 40, 0, 0, 0]),
    ],
)
def test_the_worst_of_a_test_that_ran_again_counts(kept, first, second, row):
    assert kept(("a", first), ("a", second)) == {"links": row}


def test_a_test_that_was_skipped_is_no_trial(kept):
    assert kept(("a", Trials("links"))) == {}


def test_a_row_that_did_not_run_keeps_its_result(kept):
    kept(("a", _PASSED))

    assert kept(("a", Trials("clock", failed=True))) == {
        "links": [4, 40, 0, 0, 0],
        "clock": [1, 0, 0, 0, 1],
    }
