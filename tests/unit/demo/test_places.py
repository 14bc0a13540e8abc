"""A story that needs a program of the system says so before it begins."""

from __future__ import annotations

import pytest

from demo.places import require_program
from demo.screen import StepFailedError


def test_a_program_that_is_missing_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    said = r"there is no prometheus on PATH; install it \(apt install prometheus\)"

    with pytest.raises(StepFailedError, match=said):
        require_program("prometheus", "it (apt install prometheus)")


def test_a_program_that_is_there_is_found(monkeypatch, tmp_path):
    program = tmp_path / "prometheus"
    program.touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert require_program("prometheus", "it") == str(program)
