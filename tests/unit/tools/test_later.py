"""Rooms of the suite run on a later day as users run them, and not as a night does."""

from __future__ import annotations

import os
import sys
from unittest.mock import Mock

import pytest

from tools import later


def test_a_suite_has_a_later_clock_and_the_trials_of_a_day(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {name: text for name, text in os.environ.items() if name != "NIGHTLY"}
    monkeypatch.setenv("NIGHTLY", "1")
    # A C compiler may be missing where this test runs.
    build = Mock(side_effect=lambda folder, seconds: {"CLOCK_SECONDS": str(seconds)})
    monkeypatch.setattr(later, "build_clock", build)
    become = Mock()
    monkeypatch.setattr(os, "execve", become)

    later.main(["--days", "2", "unit", "spark"])

    become.assert_called_once_with(
        sys.executable,
        [sys.executable, "-m", "tools.suite", "unit", "spark"],
        before | {"CLOCK_SECONDS": "172800"},
    )
