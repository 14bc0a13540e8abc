"""Counts of the rows of tables in PostgreSQL and in the lake, at an LSN of the database."""

# ruff: noqa: S608 - every name in these statements is quoted

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from penstock.aws import Athena
from penstock.errors import OperationError
from penstock.tables import TABLE, name_table

_POLL_SECONDS: Final = 5.0
_AT_ONE_MOMENT: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;"
_PLACE: Final = "SELECT '', pg_current_wal_lsn() - '0/0';"
_TEXT: Final = "'"


class State(StrEnum):
    """The result of comparing a table in the lake with the database's."""

    EQUAL = "equal"
    DIFFERS = "differs"
    AHEAD = "ahead"  # the lake has changes after the LSN at which the database was counted
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Count:
    """The numbers of rows of a table in the database and in the lake.

    Attributes:
        table: its name in the database, as SCHEMA.TABLE.
        rows: the number of rows in the database.
        lsn: the LSN of the database when they were counted.
        found: the number of rows in the lake; None if the table is missing there.
        last: the largest LSN in the rows of the lake.
    """

    table: str
    rows: int
    lsn: int
    found: int | None
    last: int

    @property
    def state(self) -> State:
        """The result of the comparison."""
        if self.found is None:
            return State.MISSING
        if self.found == self.rows:
            return State.EQUAL
        return State.AHEAD if self.last > self.lsn else State.DIFFERS


def count_rows(
    connection: str, athena: Athena, lake_tables: Mapping[str, str], wait_seconds: float
) -> list[Count]:
    """Count the rows in the database and in the lake, until all are equal or the time is over.

    Args:
        connection: the database, as psql takes it.
        athena: the work group that queries the lake.
        lake_tables: the table of the lake, DATABASE.TABLE, for each SCHEMA.TABLE.
        wait_seconds: for how long to count again, while the job catches up.

    Raises:
        OperationError: psql is missing, or the database or Athena refuses.
    """
    deadline = time.monotonic() + wait_seconds
    while True:
        lsn, rows = count_database(connection, list(lake_tables))
        found = dict(_count_lake(athena, lake_tables))
        counts = [Count(each, rows[each], lsn, *found[each]) for each in lake_tables]
        if all(each.state is State.EQUAL for each in counts) or time.monotonic() > deadline:
            return counts
        time.sleep(min(_POLL_SECONDS, wait_seconds))


def name_lake_tables(tables: Sequence[str], prefix: str, pattern: str) -> dict[str, str]:
    """Return the table of the lake of each table, as `--current-table` of the job names it."""
    return {each: pattern.replace(TABLE, name_table(f"{prefix}.{each}")) for each in tables}


def count_database(connection: str, tables: Sequence[str]) -> tuple[int, dict[str, int]]:
    """Return the LSN and the number of rows of each table, all in one transaction.

    Raises:
        OperationError: psql is missing, or the database refuses.
    """
    counts = (f"SELECT {_quote(each, _TEXT)}, count(*) FROM {_name(each)};" for each in tables)
    script = "\n".join([_AT_ONE_MOMENT, _PLACE, *counts, "COMMIT;"])
    words = ["psql", "-X", "-w", "-qAt", "-v", "ON_ERROR_STOP=1", "-d", connection, "-f", "-"]
    try:
        done = subprocess.run(words, input=script, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        said = "found no psql on PATH, which counts the rows; install PostgreSQL's client"
        raise OperationError(said) from error
    if done.returncode:
        raise OperationError(f"psql cannot count: {done.stderr.strip()}")
    found = dict(line.rpartition("|")[::2] for line in done.stdout.splitlines())
    return int(found.pop("")), {table: int(rows) for table, rows in found.items()}


def _count_lake(
    athena: Athena, lake_tables: Mapping[str, str]
) -> Iterator[tuple[str, tuple[int | None, int]]]:
    """Yield the rows of each table and its largest LSN; None if the table is missing."""
    for table, name in lake_tables.items():
        if not athena.has_table(name):
            yield table, (None, 0)
            continue
        sql = f"SELECT count(*) AS rows, max(_lsn) AS last FROM {_name(name)}"
        (row,) = athena.ask(sql, name.partition(".")[0]).rows
        yield table, (int(row["rows"] or 0), int(row["last"] or 0))


def _name(table: str) -> str:
    return ".".join(_quote(part, '"') for part in table.split("."))


def _quote(text: str, mark: str) -> str:
    return f"{mark}{text.replace(mark, mark * 2)}{mark}"
