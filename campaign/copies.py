"""The oracle of captured tables: the tables that a job writes are equal to those of the database.

It compares the last state alone: what changes between two states of a row may be skipped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from campaign.history import Captured, Row
from campaign.oracle import Kind, Problem, compare

_KEY: Final = "id"
_DELETED: Final = "_deleted"  # in rows that stay after their deletion


def find_copy_problems(captured: Captured) -> list[Problem]:
    """Return all that is wrong in tables and dead letters of a job of change data capture."""
    return [
        *(
            problem
            for sink, copies in captured.copies.items()
            for table, rows in captured.tables.items()
            for problem in _check_copy(f"cdc, {sink}, {table}", rows, copies[table])
        ),
        *(
            Problem(Kind.LETTER, f"cdc: {each['id']} is good, given up for {each['reason']}")
            for each in captured.letters
        ),
    ]


def _check_copy(where: str, rows: Sequence[Row], copies: Sequence[Row]) -> Iterator[Problem]:
    """Each row of the database has one that is equal, and there is no other one."""
    valid = [each for each in copies if not each.get(_DELETED)]
    times = Counter(str(each[_KEY]) for each in valid)
    found = {str(each[_KEY]): each for each in valid}
    for row in rows:
        key = str(row[_KEY])
        copy = found.pop(key, None)
        if copy is None:
            yield Problem(Kind.LOST, f"{where}/{key}: no row")
        elif times[key] > 1:
            yield Problem(Kind.TWICE, f"{where}/{key}: {times[key]} rows")
        elif difference := compare(row, copy):
            yield Problem(Kind.ORDER, f"{where}/{key}: {difference}")
    for key in found:
        yield Problem(Kind.ORDER, f"{where}/{key}: a row that the database does not have")
