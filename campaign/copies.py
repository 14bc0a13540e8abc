"""The oracle of captured tables: the tables that a job writes are equal to those of the database.

So are the valid versions of a history. The others are not compared with anything, but one version
of a row must end before the next one begins.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from campaign.history import Captured, Row
from campaign.oracle import Kind, Problem, compare

_KEY: Final = "id"
_DELETED: Final = "_deleted"  # in rows that stay after their deletion
_FROM: Final = ("_lsn", "_offset")  # the place at which a version begins
_UNTIL: Final = ("_until_lsn", "_until_offset")


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
            problem
            for table, rows in captured.tables.items()
            for problem in _check_history(f"cdc, history, {table}", rows, captured.versions[table])
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


def _check_history(where: str, rows: Sequence[Row], versions: Sequence[Row]) -> Iterator[Problem]:
    """The valid versions are the rows of the database, and no two of a row overlap."""
    yield from _check_copy(where, rows, [each for each in versions if each[_UNTIL[0]] is None])
    by_key = defaultdict[str, list[Row]](list)
    for each in versions:
        by_key[str(each[_KEY])].append(each)
    for key, found in by_key.items():
        for one, other in pairwise(sorted(found, key=lambda row: _find_place(row, _FROM))):
            begin, end = _find_place(other, _FROM), _find_place(one, _UNTIL)
            if None in end or end > begin:
                yield Problem(Kind.ORDER, f"{where}/{key}: ends at {end}, the next is from {begin}")


def _find_place(row: Row, columns: Sequence[str]) -> tuple[int, ...]:
    return tuple(row[each] for each in columns)
