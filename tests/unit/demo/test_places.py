"""A story that needs a program of the system says so before it begins."""

from __future__ import annotations

import pytest

from demo.places import require_program
from demo.screen import StepFailedError


def test_a_program_that_is_missing_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    said = r"there is no node-exporter or node_exporter on PATH; install it \(apt install it\)"

    with pytest.raises(StepFailedError, match=said):
        require_program("node-exporter", "node_exporter", how="it (apt install it)")


def test_a_program_is_found_by_any_of_its_names(monkeypatch, tmp_path):
    program = tmp_path / "node_exporter"
    program.touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert require_program("node-exporter", "node_exporter", how="it") == str(program)
