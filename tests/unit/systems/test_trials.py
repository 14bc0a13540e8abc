"""Each test of a fault leaves a line for each row, which says whether the test failed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

_CLONE = Path(__file__).parents[3]
_TESTS = """
import pathlib, pytest, systems.trials
systems.trials.LINES = pathlib.Path(__file__).with_name("faults.jsonl")
def test_passes(fault):
    fault("a").count_seen(1)
def test_fails_before_it_counts(fault):
    fault("a")
    assert False
def test_waits_for_what_is_lost(fault):
    trials = fault("a")
    trials.count_seen(2)
    raise TimeoutError
@pytest.fixture
def world():
    yield
    assert False
def test_leaves_what_cannot_be_undone(world, fault):
    fault("a").count_seen(1)
def test_is_interrupted(fault):
    fault("a").count_seen(1)
    raise KeyboardInterrupt
"""


def test_a_test_that_fails_says_so_and_one_that_is_interrupted_says_nothing(tmp_path):
    (tmp_path / "test_it.py").write_text(_TESTS)

    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "conftest", str(tmp_path)],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(_CLONE)},
        check=False, capture_output=True, text=True, timeout=120,
    )  # fmt: skip

    lines = [json.loads(it) for it in (tmp_path / "faults.jsonl").read_text().splitlines()]
    found = [(line["test"].partition("::")[2], line["trials"], line["failed"]) for line in lines]
    assert found == [
        ("test_passes", 1, False),
        ("test_fails_before_it_counts", 0, True),
        ("test_waits_for_what_is_lost", 2, True),
        ("test_leaves_what_cannot_be_undone", 1, True),
    ], ran.stdout + ran.stderr
