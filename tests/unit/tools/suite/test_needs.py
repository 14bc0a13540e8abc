"""The suite names missing programs before it runs, and runs as many rooms as fit the machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from localcloud.errors import MissingToolError
from tools.suite import __main__ as command
from tools.suite import needs


def test_everything_missing_is_named_before_a_test_runs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def find_programs() -> None:
        raise MissingToolError("no PostgreSQL was found")

    monkeypatch.setattr(needs, "find_programs", find_programs)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.argv", ["suite"])
    monkeypatch.setattr(command, "run_rooms", None)

    assert command.main() == 2

    title, *lines = capsys.readouterr().err.splitlines()
    assert title == "The tests need what this machine lacks:"
    assert [line.split()[1].strip(":,") for line in lines] == [
        "git",
        "PostgreSQL",
        "Chromium",
        "user",
    ]


@pytest.mark.parametrize(
    ("limit", "pages", "rooms"),
    [("max", 6 * 2**20, 6), ("max", 64 * 2**20, 8), (str(9 * 2**30), 64 * 2**20, 2), ("1", 1, 1)],
)
def test_rooms_have_a_core_and_memory_each(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, limit: str, pages: int, rooms: int
) -> None:
    (tmp_path / "memory.max").write_text(f"{limit}\n")
    monkeypatch.setattr(needs, "_LIMIT", tmp_path / "memory.max")
    sizes = {"SC_PAGE_SIZE": 4_096, "SC_PHYS_PAGES": pages}
    monkeypatch.setattr("os.sysconf", sizes.__getitem__)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: range(8))

    assert needs.count_rooms() == rooms
