"""The figures of rungs: their goals, the file that keeps them, the page and its plots."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bench.__main__ import climb
from bench.ladder import Result, least, most, reported
from bench.page import fill_page
from bench.plot import draw_goals, draw_speeds
from bench.results import Results
from bench.rungs import RUNGS
from bench.rungs.rows import ROWS

_ROOT = Path(__file__).parents[2]
_PARTS = {"records": 10, "ours_rows_per_second": 5, "ours_slowest": 4, "ours_fastest": 6}


@pytest.fixture
def rungs():
    return {rung.name: rung for rung in RUNGS}


def _measured(rung, figure):
    return replace(rung, measure=lambda form: Result(figure, "times", dict(_PARTS)))


def _failed(rung):
    def fail(form):
        raise ValueError("the broker is gone")

    return replace(rung, measure=fail)


def _read(folder):
    return json.loads((folder / "bench/results.json").read_text())


def test_goals_are_bounds_of_a_figure():
    def measure(form):
        return Result(0.0, "times")

    assert least("a", "what", 0.9, measure).is_reached(0.9)
    assert not least("a", "what", 0.9, measure).is_reached(0.89)
    assert most("a", "what", 1.1, measure).is_reached(1.1)
    assert not most("a", "what", 1.1, measure).is_reached(1.11)
    assert reported("a", "what", measure).is_reached(0.0)


def test_a_rung_that_fails_keeps_its_figure_and_takes_no_other_with_it(rungs, tmp_path, capsys):
    first, second = rungs["decode-1"], rungs["decode-50"]

    assert climb([_measured(first, 0.5), _measured(second, 0.95)], "tiny", tmp_path) == 0
    before = _read(tmp_path)
    assert climb([_failed(first), _measured(second, 0.96)], "tiny", tmp_path) == 1

    after = _read(tmp_path)
    assert after["rungs"]["decode-1"] == before["rungs"]["decode-1"]
    assert after["rungs"]["decode-50"]["figure"] == 0.96
    assert "the broker is gone" in capsys.readouterr().err


def test_figures_name_their_run_and_their_seconds(rungs, tmp_path):
    climb([_measured(rungs["decode-1"], 0.5)], "tiny", tmp_path)

    found = _read(tmp_path)
    (rung,), (run,) = found["rungs"].values(), found["runs"]
    assert (rung["run"], rung["reached"], rung["parts"]) == (run, False, _PARTS)
    assert {"seconds", "others_cores", "stolen_cores"} <= rung.keys()
    assert found["runs"][run]["machine"]["spark"]


def test_runs_and_rungs_that_nobody_needs_are_dropped(tmp_path):
    entry = {"figure": 1.0, "unit": "times", "reached": True, "seconds": 1, "parts": {}}
    results = Results(tmp_path / "results.json", {"old": {}, "new": {}}, {})
    results.rungs.update({"gone": entry | {"run": "old"}, "kept": entry | {"run": "new"}})

    results.write(["kept", "not measured"])

    again = Results.read(results.path)
    assert (list(again.runs), list(again.rungs)) == (["new"], ["kept"])


def test_the_page_says_which_run_a_figure_is_of_only_if_there_are_several(tmp_path):
    entry = {"figure": 1.0, "unit": "times", "reached": True, "seconds": 1, "parts": {}}
    results = Results(tmp_path / "results.json", {"0, without figures": {}, "1": {}, "2": {}}, {})
    results.rungs["upsert-5ms"] = entry | {"run": "1"}

    assert "run" not in fill_page("<!-- rungs: dynamodb -->", results).splitlines()[0].split()
    results.rungs["write-20"] = entry | {"run": "2"}
    header, _, second, first = fill_page("<!-- rungs: dynamodb -->", results).splitlines()

    assert header.endswith("| run |")
    assert [line.split(" | ")[-1] for line in (first, second)] == ["1 |", "2 |"]
    assert "**not reached**" in first


def test_the_page_of_this_repository_has_the_figures_of_its_results():
    text = fill_page(
        (_ROOT / "bench/page.md").read_text(), Results.read(_ROOT / "bench/results.json")
    )

    assert (_ROOT / "docs/performance.md").read_text() == text


def test_the_page_has_what_each_way_took(tmp_path):
    cpu = {"records": 20, "one_cpu_seconds": 3.14, "one_least_cpu_seconds": 3.0}
    parts = cpu | {"one_most_cpu_seconds": 4.0, "one_seconds": 2.0}
    rungs = {"staged-columns-5": {"parts": parts, "run": "1"}}
    results = Results(tmp_path / "results.json", {"1": {}}, rungs)

    assert fill_page("<!-- parts: staging -->", results).splitlines()[2:] == [
        "| `staged-columns-5` | one | 3.14 seconds of CPU per batch | 4 to 3 | 20 |",
    ]
    assert fill_page("<!-- parts: sales -->", results) == ""


def test_plots_have_every_way_and_every_goal():
    measured = {"write-20": {"figure": 10.0, "parts": _PARTS}}

    speeds, goals = draw_speeds(measured), draw_goals(ROWS, measured)

    assert ">ours</text>" in speeds
    assert ">write-20</text>" in goals
    assert ">2.00</text>" in goals
