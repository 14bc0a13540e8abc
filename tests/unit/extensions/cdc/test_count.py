"""Rows of PostgreSQL and of the lake, counted and compared."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock.aws.athena import QueryAnswer
from penstock.cli import main
from penstock.errors import OperationError
from penstock.extensions.cdc import command
from penstock.extensions.cdc.count import count_database

_WORDS = ["--database", "dbname=films", "--topics", "films", "--workgroup", "lake"]
_WORDS += ["--current-table", "lake.{table}", "--wait", "0.01"]


class _Lake:
    """Answers like Athena: the rows and the last place of each table."""

    def __init__(self, tables: dict[str, tuple[int, int]]) -> None:
        self.tables = tables

    def has_table(self, name: str) -> bool:
        return name in self.tables

    def ask(self, sql: str, database: str) -> QueryAnswer:
        (name,) = [each for each in self.tables if f'"{each.partition(".")[2]}"' in sql]
        rows, last = self.tables[name]
        return QueryAnswer("1", ({"rows": str(rows), "last": str(last)},), 0, 0)


@pytest.fixture
def psql(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Put a psql on PATH that keeps its script, and then does what it is told."""

    def make(does: str) -> Path:
        file = tmp_path / "psql"
        file.write_text(f"#!/bin/sh\ncat >{tmp_path}/script\n{does}\n")
        file.chmod(0o700)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
        return tmp_path / "script"

    return make


@pytest.fixture
def compare(
    psql: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str]]:
    """Run the command for a database with 4 films at place 100, and a lake."""

    def run(lake: dict[str, tuple[int, int]], *words: str) -> tuple[int, str]:
        psql("printf '|100\\npublic.film|4\\n'")
        monkeypatch.setattr(command, "Athena", lambda *_: _Lake(lake))
        code = main(["cdc", "count", "public.film", *_WORDS, *words], {})
        return code, capsys.readouterr().out

    return run


@pytest.mark.parametrize(
    ("lake", "code", "line"),
    [
        ({"lake.films_public_film": (4, 90)}, 0, ["public.film", "4", "4", "equal"]),
        ({"lake.films_public_film": (3, 90)}, 2, ["public.film", "4", "3", "differs"]),
        ({"lake.films_public_film": (5, 101)}, 2, ["public.film", "4", "5", "ahead"]),
        ({}, 2, ["public.film", "4", "missing"]),
    ],
)
def test_tables_are_compared(
    compare: Any, lake: dict[str, tuple[int, int]], code: int, line: list[str]
) -> None:
    found, text = compare(lake)
    assert found == code
    assert text.splitlines()[0] == "as of 100 in the log of the database"
    assert text.splitlines()[2].split() == line


def test_a_line_of_json_for_each_table(compare: Any) -> None:
    _, text = compare({"lake.films_public_film": (4, 90)}, "--output", "json")
    assert json.loads(text) == {
        "table": "public.film",
        "rows": 4,
        "lsn": 100,
        "found": 4,
        "last": 90,
        "lake_table": "lake.films_public_film",
        "state": "equal",
    }


def test_the_lake_may_follow_later(compare: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    lake = {"lake.films_public_film": (3, 90)}
    monkeypatch.setattr("time.sleep", lambda _: lake.update({next(iter(lake)): (4, 99)}))
    assert compare(lake, "--wait", "60")[0] == 0


def test_all_rows_are_counted_at_one_moment_and_names_are_quoted(psql: Any) -> None:
    script = psql('printf "|7\\npublic.o\'clock|1\\n"')
    assert count_database("dbname=films", ["public.o'clock"]) == (7, {"public.o'clock": 1})
    assert script.read_text().splitlines() == [
        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;",
        "SELECT '', pg_current_wal_lsn() - '0/0';",
        "SELECT 'public.o''clock', count(*) FROM \"public\".\"o'clock\";",
        "COMMIT;",
    ]


def test_a_database_that_refuses_is_named(
    psql: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    psql("echo 'FATAL: no such database' >&2; exit 2")
    with pytest.raises(OperationError, match="psql cannot count: FATAL: no such database"):
        count_database("dbname=films", ["public.film"])
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    with pytest.raises(OperationError, match="found no psql on PATH"):
        count_database("dbname=films", ["public.film"])


def test_a_table_without_a_schema_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["cdc", "count", "film", *_WORDS], {})
    assert "SCHEMA.TABLE" in capsys.readouterr().err
