"""A night runs the tests that have other values then or more trials, and those of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_CLONE = Path(__file__).parents[4]
_TESTS = """
import hypothesis, pytest
def test_plain(): pass
def test_counted(fault): pass
def test_more(trials): pass
def test_seeded(seeded): pass
@hypothesis.given(hypothesis.strategies.booleans())
def test_drawn(_): pass
@pytest.mark.nightly
def test_long(): pass
"""
_DIFFER = {"test_counted", "test_more", "test_seeded", "test_drawn"}


@pytest.mark.parametrize(
    ("night", "chosen"), [("", {"test_plain", *_DIFFER}), ("1", {"test_long", *_DIFFER})]
)
def test_a_night_repeats_no_test_of_the_day(tmp_path, night, chosen):
    (tmp_path / "test_it.py").write_text(_TESTS)
    words = ["-p", "conftest", "--collect-only", "-q", str(tmp_path)]
    environ = {**os.environ, "NIGHTLY": night, "PYTHONPATH": str(_CLONE)}

    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        cwd=tmp_path, env=environ, check=False, capture_output=True, text=True, timeout=120,
    )  # fmt: skip

    found = {line.partition("::")[2] for line in ran.stdout.splitlines() if "::" in line}
    assert found == chosen, ran.stdout + ran.stderr
