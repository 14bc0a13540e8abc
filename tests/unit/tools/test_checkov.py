"""`tools/checkov.sh` in a clone made up of one file, with a pretended Python and checkov."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[3]

# Stands for the interpreters of both environments; the second is told by its place.
_PYTHON = """#!/bin/sh
case "$*" in
"-m venv "*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" && echo venv >>calls ;;
"-m pip "*) echo "pip ${*##*--require-hashes}" >>calls ;;
*/checkov*) echo "checkov ${*##*--quiet}" >>calls; echo said; [ ! -f unsafe ] ;;
esac
"""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone with a lock file."""
    (tmp_path / "tools").mkdir()
    shutil.copy(_ROOT / "tools/checkov.sh", tmp_path / "tools")
    (tmp_path / "tools/checkov.lock").write_text("checkov==1\n")
    (tmp_path / ".venv/bin").mkdir(parents=True)
    (tmp_path / ".venv/bin/python").write_text(_PYTHON)
    (tmp_path / ".venv/bin/python").chmod(0o755)
    return tmp_path


def _run(clone: Path, *words: str) -> subprocess.CompletedProcess[str]:
    (clone / "calls").write_text("")
    command = [str(clone / "tools/checkov.sh"), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _calls(clone: Path) -> list[str]:
    return (clone / "calls").read_text().splitlines()


def test_it_is_installed_once_for_each_lock_and_quiet_when_all_is_safe(clone: Path) -> None:
    first = _run(clone, "--check", "CKV_AWS_18")

    assert (first.returncode, first.stdout) == (0, "==> checkov into .cache/checkov\n")
    assert _calls(clone) == [
        "venv",
        "pip  --requirement tools/checkov.lock",
        "checkov  --check CKV_AWS_18",
    ]
    second = _run(clone)
    assert (second.returncode, second.stdout, second.stderr) == (0, "", "")
    assert _calls(clone) == ["checkov "]
    (clone / "tools/checkov.lock").write_text("checkov==2\n")
    _run(clone)
    assert _calls(clone)[0] == "venv"


def test_findings_are_shown(clone: Path) -> None:
    _run(clone)
    (clone / "unsafe").touch()

    found = _run(clone)
    assert (found.returncode, found.stdout, found.stderr) == (1, "", "said\n")


def test_an_installation_that_was_cut_is_made_again(clone: Path) -> None:
    _run(clone)
    (clone / ".cache/checkov/.packages").unlink()

    _run(clone)
    assert _calls(clone)[0] == "venv"


def test_help_says_how_to_waive(clone: Path) -> None:
    assert "# checkov:skip=ID:reason" in _run(clone, "--help").stdout


def test_the_lock_names_no_index() -> None:
    lock = (_ROOT / "tools/checkov.lock").read_text()

    assert "checkov==" in lock
    assert "http" not in lock.replace("aiohttp", "")
