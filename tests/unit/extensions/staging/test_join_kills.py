"""A program dies at any call, and the batch comes again: the tables are as if it had lived."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from tests.unit.extensions.staging.joining import PLAN, MemoryStore, World, open_tables
from tests.unit.extensions.staging.mortal import Killed, Mortal

_DELAYS = (60, 120, 240)


def _trip(number: int, line: int = 1, **more: Any) -> dict[str, Any]:
    return {"trip": f"t{number}", "buyer": f"c{number % 2}", "order": "o", "line": line, **more}


# The records of each batch, a table after the other; `c9` never comes.
_BATCHES = (
    {"customers": [({"customer": "c0"}, 1)], "trips": [(_trip(n), n) for n in range(4)]},
    {
        "lines": [({"order": "o", "line": 1}, 1)],
        "trips": [(_trip(4), 4), (_trip(5, buyer="c9"), 5), (_trip(1, line=2), 6)],
    },
    {"customers": [({"customer": "c1"}, 2)], "trips": [("t2", 7), (_trip(6, line=2), 8)]},
    {"customers": [("c1", 3)], "lines": [({"order": "o", "line": 2}, 2)], "trips": [("t0", 9)]},
)
_Step = Callable[[World], object]


def _stage(batch: dict[str, list[tuple[Any, int]]]) -> _Step:
    return lambda world: [world.stage(table, records) for table, records in batch.items()]


def _retry(number: int) -> _Step:
    def run(world: World) -> None:
        world.now_s = 1_000 + sum(_DELAYS[:number])
        world.retry(f"run-{number}")

    return run


_STEPS = [*map(_stage, _BATCHES), *map(_retry, (1, 2, 3))]


def _run(last: int = 0, performed: bool = False) -> tuple[dict[str, Any], bool]:
    """Return what is left of all steps, of which one is begun again; and whether one was."""
    tables, store = open_tables(PLAN), MemoryStore()
    mortal = Mortal(tables, last, performed)
    for number, step in enumerate(_STEPS):
        try:
            step(World(mortal, store=store))
        except Killed:
            step(World(tables, store=store))
        if number == len(_BATCHES) - 1:  # what was to be released was not left to the retries
            joined = tables.rows("p-done")
    # A run that died before it parked what it claimed leaves that to a later one.
    last_run = World(tables, store=store)
    last_run.now_s = 100_000
    last_run.retry("last")
    ends = {row["id"]: sorted(row.keys() & {"doneAt", "parkedAt"}) for row in tables.rows("errors")}
    left = {
        "joined": sorted(joined, key=lambda row: row["trip"]),
        "finals": sorted(tables.rows("p-done"), key=lambda row: row["trip"]),
        "errors": ends,
        "waiting": [row for row in tables.rows("waiting") if row["driver"] != "-"],
        "parked": sorted(name for name in store.objects if name.startswith("records/")),
    }
    return left, mortal.made >= last


@pytest.mark.parametrize("performed", [False, True], ids=["unsent", "unanswered"])
def test_a_program_that_dies_at_any_call_joins_and_parks_the_same(performed: bool) -> None:
    wanted, _ = _run()
    assert (len(wanted["finals"]), len(wanted["parked"])) == (5, 2)
    for last in count(1):
        left, died = _run(last, performed)
        if not died:
            break
        assert left == wanted, last
    assert last > 100
