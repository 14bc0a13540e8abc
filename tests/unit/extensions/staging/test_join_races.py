"""Programs that stage, join and retry at the same time, in every order that chance finds.

Each call of DynamoDB is a step. One program at a time takes a step, chosen by a seed.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable

import pytest

from tests.unit.extensions.staging.joining import PLAN, MemoryStore, World, open_tables

_TRIP = {"trip": "t1", "buyer": "c1", "order": "o1", "line": 1}
_CUSTOMER = {"customer": "c1"}
_LINE = {"order": "o1", "line": 1}
_Program = Callable[[World], object]


def _run(chance: random.Random, programs: list[_Program]) -> World:
    """Run programs over the same tables, one step at a time in an order by chance."""
    tables, store = open_tables(PLAN), MemoryStore()
    turns = [threading.Semaphore(0) for _ in programs]
    paused = threading.Semaphore(0)
    running = set(range(len(programs)))
    errors: list[BaseException] = []
    own = threading.local()

    def pause(operation: str) -> None:
        paused.release()
        turns[own.number].acquire()

    def start(number: int) -> None:
        own.number = number
        turns[number].acquire()
        try:
            world = World(tables, store=store)
            world.now_s = 2_000  # every dead letter that was written before is due
            programs[number](world)
        except BaseException as error:
            errors.append(error)
        finally:
            running.discard(number)
            paused.release()

    threads = [threading.Thread(target=start, args=(each,)) for each in sorted(running)]
    tables.before = pause
    for each in threads:
        each.start()
    while running:
        turns[chance.choice(sorted(running))].release()
        paused.acquire()
    for each in threads:
        each.join()
    tables.before = lambda operation: None
    if errors:
        raise errors[0]
    return World(tables, store=store)


def _stage(table: str, *records: tuple[object, int]) -> _Program:
    """A program that stages records one after the other."""

    def run(world: World) -> None:
        for each in records:
            world.stage(table, [each])

    return run


def _check(world: World) -> None:
    """Every driver whose dependencies are staged is joined, and nothing waits for a staged row."""
    (trip,) = world.tables.rows("p-trips")
    present = {
        f"{table}/{row[key]}"
        for table, key in (("customers", "customer"), ("lines", "id"))
        for row in world.tables.rows(f"p-{table}")
        if not row.get("_deleted")
    }
    finals = {row["_source"] for row in world.tables.rows("p-done")}
    waiting = [row for row in world.tables.rows("waiting") if row["driver"] != "-"]
    if present == {"customers/c1", "lines/o1/1"}:
        assert finals == {trip["_source"]}
    elif trip["_source"] not in finals:
        held = {row["waitingFor"] for row in waiting}
        assert held - present, (held, present)
    markers = {row["waitingFor"] for row in world.tables.rows("waiting") if row["driver"] == "-"}
    assert {row["waitingFor"] for row in waiting} <= markers
    world.now_s = 10_000
    world.retry("last")
    for row in world.tables.rows("errors"):
        assert ("doneAt" in row) == (trip["_source"] in finals or row["id"] != _current(trip)), row


def _current(trip: dict[str, object]) -> str:
    offset = int(str(trip["_source"]).rsplit("/", 1)[1])
    return f"{trip['_source']}/{1_000 + offset}/join"


@pytest.mark.parametrize(
    "programs",
    [
        pytest.param(
            [
                _stage("trips", (_TRIP, 1)),
                _stage("customers", (_CUSTOMER, 1)),
                _stage("lines", (_LINE, 1)),
            ],
            id="dependencies arrive while the driver is judged",
        ),
        pytest.param(
            [
                _stage("trips", (_TRIP, 1)),
                _stage("customers", (_CUSTOMER, 1), ("c1", 2), (_CUSTOMER, 3)),
                _stage("lines", (_LINE, 1), (_LINE, 2)),
                lambda world: world.retry("a"),
            ],
            id="a dependency is deleted and comes back",
        ),
        pytest.param(
            [
                _stage("trips", (_TRIP, 1)),
                _stage("trips", (_TRIP, 2)),
                _stage("customers", (_CUSTOMER, 1), ("c1", 2)),
                _stage("lines", (_LINE, 1)),
            ],
            id="a newer driver, and a dependency that is deleted",
        ),
        pytest.param(
            [
                _stage("trips", (_TRIP, 1), (_TRIP, 1)),
                _stage("customers", (_CUSTOMER, 1), (_CUSTOMER, 1)),
                _stage("lines", (_LINE, 1)),
                lambda world: world.retry("a"),
                lambda world: world.retry("b"),
            ],
            id="batches that come again, and two retries",
        ),
    ],
)
def test_no_wake_up_is_lost(
    programs: list[_Program], seeded: random.Random, trials: Callable[[int, int], int]
) -> None:
    for _ in range(trials(250, 2_500)):
        _check(_run(seeded, programs))
