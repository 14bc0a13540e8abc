"""A soak is kept as JSON, told in a paragraph, and drawn."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

from campaign.growth import READERS
from campaign.history import PROGRAMS, Reading, Sample
from campaign.picture import _COLOURS, draw
from campaign.soak import Soak, make_soak

_SAMPLES = [
    Sample(10.0, {"driver": [Reading(1, 800, 400)]}, {"topic": 400, "function": 390, "job": 0}),
    Sample(20.0, {"producer": [Reading(2, 70, 17), Reading(3, 75, 16)]}, {}),
    Sample(60.0, {"driver": [Reading(4, 700, 410)]}, {"topic": 2400, "function": 2390, "job": 900}),
]
_SOAK = make_soak(
    _SAMPLES,
    day="2026-11-27",
    commit="0123456789ab",
    seed=7,
    events=2_345,
    peak=80.0,
    drivers=2,
    problems=0,
    faults=[5.0, 33.3],
)
_PLOTS = {
    "memory in MB": {"driver": [800, None, 700], "producer": [None, 75, None]},
    "file handles": {"driver": [400, None, 410], "producer": [None, 17, None]},
    "lag in records": {"function": [10, None, 10], "job": [400, None, 1500]},
}


def test_a_soak_has_the_largest_process_of_each_program_and_the_lag_of_both_readers() -> None:
    assert _SOAK.plots == _PLOTS
    assert (_SOAK.seconds, _SOAK.minutes, _SOAK.rate) == ([10.0, 20.0, 60.0], 1, 40.0)


def test_a_soak_is_kept_with_a_line_for_each_series(tmp_path: Path) -> None:
    path = tmp_path / "soak.json"
    assert Soak.read(path) is None

    _SOAK.write(path)

    assert Soak.read(path) == _SOAK
    assert '   "job": [ 400, null, 1500 ]' in path.read_text().splitlines()
    assert json.loads(path.read_text())["seed"] == 7


def test_a_soak_is_told_whatever_the_oracle_found() -> None:
    assert _SOAK.describe() == (
        "On 2026-11-27 (`0123456789ab`, seed 7), 2,345 events, 1 minutes of them with 2 "
        "faults: then 40 records a second, where all programs carried 80 before. 2 drivers ran, "
        "and the oracle found no problem."
    )
    assert replace(_SOAK, problems=1_234).describe().endswith("found **1,234 problems**.")


def test_a_picture_has_a_line_for_each_series_and_a_mark_for_each_fault() -> None:
    name = "{http://www.w3.org/2000/svg}"
    root = ElementTree.fromstring(draw(_SOAK))  # noqa: S314 - our own

    lines = [each.get("points") for each in root.iter(f"{name}polyline")]
    words = [each.text for each in root.iter(f"{name}text")]
    assert len(lines) == 10  # six series, of which four have a gap
    assert {*_PLOTS, "driver", "producer", "function", "job", "minutes"} <= set(words)
    marks = [each for each in root.iter(f"{name}rect") if each.get("fill") == "#f2b8b5"]
    assert len(marks) == 2 * len(_PLOTS) + 1


def test_each_program_and_reader_has_a_colour() -> None:
    assert _COLOURS.keys() == PROGRAMS | set(READERS)
