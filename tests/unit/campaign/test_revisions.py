"""A copy of a commit has its sources, and what they build."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from campaign import revisions
from campaign.revisions import copy_sources

_BUILD = """
from pathlib import Path

Path("src/built").write_text(Path("jobs/consume.py").read_text() + Path("jars/spark/lib").name)
"""


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for folder in ("jobs", "src", "jars/spark", "tools", "tests"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "kept").touch()
    (tmp_path / "tools/build_decoder.py").write_text(_BUILD)
    monkeypatch.setattr(revisions, "_ROOT", tmp_path)
    monkeypatch.setattr(revisions, "_COPIES", tmp_path / ".cache/revisions")
    _run_git(tmp_path, "init", "--quiet")
    return tmp_path


def _run_git(clone: Path, *words: str) -> str:
    name = ("-c", "user.name=any", "-c", "user.email=any@example.com")
    git = ["git", "-C", str(clone), *name, *words]
    return subprocess.run(git, check=True, capture_output=True, text=True).stdout.strip()


def _commit(clone: Path, text: str) -> str:
    (clone / "jobs/consume.py").write_text(text)
    _run_git(clone, "add", "--all")
    _run_git(clone, "commit", "--quiet", "--message", "any")
    return _run_git(clone, "rev-parse", "--short", "HEAD")


def test_a_copy_has_the_sources_of_its_commit_and_is_built_once(clone: Path) -> None:
    old, _ = _commit(clone, "old "), _commit(clone, "new ")
    copy = copy_sources(old)

    assert (copy / "src/built").read_text() == "old lib"
    assert (copy / "jars/spark/lib").readlink() == clone / "jars/spark/lib"
    (clone / ".git").rename(clone / "gone")  # as in a copy of the clone
    assert copy_sources(old) == copy


def test_a_copy_that_was_not_built_is_not_there(clone: Path) -> None:
    (clone / "tools/build_decoder.py").write_text("raise SystemExit(1)")
    commit = _commit(clone, "old ")

    for _ in range(2):
        with pytest.raises(subprocess.CalledProcessError):
            copy_sources(commit)
