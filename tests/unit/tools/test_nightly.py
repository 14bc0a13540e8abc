"""A night runs one part of the suite, by its date, and its outcome is kept."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from datetime import date, timedelta
from pathlib import Path

import pytest

from campaign.schedule import PROGRAMS
from tools import nightly
from tools.nightly import PARTS, Part, choose_part, keep, run_part
from tools.suite.rooms import ROOMS

_OF_A_NIGHT = re.compile(
    r"\b(seeded|trials)\b|\bfault\(|mark\.nightly\b|^from hypothesis", re.MULTILINE
)


def test_each_room_that_differs_at_night_is_in_one_part():
    held = [room for part in PARTS for room in part.rooms]
    files = Path("tests").rglob("test_*.py")
    differ = {_room_of(file).name for file in files if _OF_A_NIGHT.search(file.read_text())}

    assert len(held) == len(set(held))
    assert differ == set(held)


def test_the_trials_of_a_fault_are_counted_in_one_part():
    """A part replaces what the page has of a fault."""
    part_of = {room: part.name for part in PARTS for room in part.rooms}
    parts = defaultdict(set)
    for file in Path("tests").rglob("test_*.py"):
        for fault in re.findall(r'\bfault\("([a-z-]+)"\)', file.read_text()):
            parts[fault].add(part_of[_room_of(file).name])

    assert len(parts) > 20
    assert {fault for fault, found in parts.items() if len(found) > 1} == set()


def _room_of(file):
    holding = [room for room in ROOMS if file.is_relative_to(room.path)]
    return max(holding, key=lambda room: len(room.path))


def test_days_in_turn_run_all_parts():
    days = [date(2026, 11, 27) + timedelta(days=number) for number in range(len(PARTS))]

    assert {choose_part(day).name for day in days} == {part.name for part in PARTS}


def test_campaigns_with_each_program_and_after_an_upgrade_are_counted_in_one_part():
    (mixed,) = (part.commands for part in PARTS if part.name == "mixed")
    *campaigns, kept = (" ".join(command) for command in mixed)

    assert {name for each in campaigns for name in PROGRAMS if f"--programs {name}" in each} == (
        PROGRAMS
    )
    assert any(" --from HEAD~" in each for each in campaigns)
    assert kept == "-m tools.fault_table"


@pytest.mark.parametrize(
    ("codes", "seconds", "outcome"),
    [
        (["pass", "pass"], 60, "passed"),
        (["raise SystemExit(3)", "pass"], 60, "failed"),
        (["import time; time.sleep(60)", "pass"], 0.3, "over an hour"),
        (["raise SystemExit(3)", "import time; time.sleep(60)"], 1.5, "failed"),
    ],
)
def test_a_part_passes_if_all_of_it_passes_in_time(codes, seconds, outcome):
    part = Part("it", commands=tuple(("-c", code) for code in codes))

    assert run_part(part, most_seconds=seconds).outcome == outcome


def test_what_comes_after_a_failure_runs_too_as_at_night(tmp_path):
    mark = tmp_path / "mark"
    after = f"import os; open({str(mark)!r}, 'w').write(os.environ['NIGHTLY'])"

    run_part(Part("it", commands=(("-c", "raise SystemExit(1)"), ("-c", after))))

    assert mark.read_text() == "1"


def test_the_last_three_runs_of_a_part_are_kept():
    runs = [{"part": "a", "began": str(number)} for number in range(5)]
    other = {"part": "b", "began": "0"}

    assert keep([other, *runs]) == [other, *runs[2:]]


def test_a_run_is_written_to_its_file(tmp_path, monkeypatch, capsys):
    file = tmp_path / "nightly.json"
    trials = tmp_path / "faults.jsonl"
    trials.touch()
    monkeypatch.setattr(nightly, "_RUNS", file)
    monkeypatch.setattr(nightly, "LINES", trials)
    monkeypatch.setattr(nightly, "PARTS", (Part("it", commands=(("-c", "raise SystemExit(1)"),)),))
    monkeypatch.setattr("sys.argv", ["nightly", "it"])

    assert nightly.main() == 1
    assert not trials.exists()  # or a row would have trials of another day
    ((run,),) = (json.loads(file.read_text()),)
    assert (run["part"], run["outcome"]) == ("it", "failed")
    assert "it: failed in" in capsys.readouterr().out
    assert f"| `it` | {run['began']} | `{run['commit']}` | " in nightly.nightly_table()
