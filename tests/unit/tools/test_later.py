"""Rooms of the suite run on a later day as users run them, and not as a night does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from tools import later


def test_a_suite_has_a_later_clock_and_the_trials_of_a_day(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {name: text for name, text in os.environ.items() if name != "NIGHTLY"}
    monkeypatch.setenv("NIGHTLY", "1")
    # A C compiler may be missing where this test runs.
    build = Mock(side_effect=lambda folder, seconds: {"CLOCK_SECONDS": str(seconds)})
    monkeypatch.setattr(later, "build_clock", build)
    run = Mock(return_value=Mock(returncode=3))
    monkeypatch.setattr(subprocess, "run", run)

    assert later.main(["--days", "2", "unit", "spark"]) == 3

    (command,), given = run.call_args
    assert command == [sys.executable, "-m", "tools.suite", "unit", "spark"]
    assert given["cwd"] == Path(__file__).parents[3]
    assert given["env"] == before | {"CLOCK_SECONDS": "172800"}
