"""Tables are deleted and built again from the start of their topics, with the same dead letters."""

from __future__ import annotations

import pytest

from penstock.extensions.staging import JoinEvent
from penstock.sinks import Selection
from tests.unit.extensions.staging.joining import PLAN, World, open_tables

_TRIP = {"trip": "t1", "buyer": "c1", "order": "o1", "line": 2}
_CUSTOMER = {"customer": "c1"}
_LINE = {"order": "o1", "line": 2}


@pytest.fixture
def world() -> World:
    world = World(open_tables(PLAN))
    world.stage("lines", [(_LINE, 1)])
    world.stage("trips", [(_TRIP, 7)])
    return world


def _begin_again(world: World) -> None:
    """Delete what the job wrote, but for the dead letters, and stage the driver again at first."""
    for name, table in world.tables.tables.items():
        if name != "errors":
            table.parts.clear()
    world.now_s += 1_000
    world.stage("lines", [(_LINE, 1)])
    world.stage("trips", [(_TRIP, 7)])


def test_a_driver_that_was_late_once_waits_again_and_is_released(world: World) -> None:
    world.stage("customers", [(_CUSTOMER, 1)])
    (before,) = world.tables.rows("errors")

    _begin_again(world)

    (row,) = world.tables.rows("errors")
    changed = {name: row.get(name) for name in row | before if row.get(name) != before.get(name)}
    assert changed == {
        "doneAt": None, "expiresAt": None, "replay": None,
        "firstSeen": world.now_s * 1_000, "nextAttemptAt": world.now_s + 60,
    }  # fmt: skip
    assert world.stage("customers", [(_CUSTOMER, 1)]) == {JoinEvent.RELEASED: 1}
    assert [row["trip"] for row in world.tables.rows("p-done")] == ["t1"]
    assert list(world.errors.describe(Selection())) == []
    assert world.tables.rows("waiting") == []


def test_a_driver_that_waits_is_joined_although_its_letter_is_done(world: World) -> None:
    """So versions before this one left drivers that were late in two lives."""
    world.errors.mark_done("trips/0/7/1007/join", "join")

    assert world.stage("customers", [(_CUSTOMER, 1)]) == {JoinEvent.RELEASED: 1}

    assert [row["trip"] for row in world.tables.rows("p-done")] == ["t1"]


def test_a_letter_that_is_opened_again_has_all_its_retries(world: World) -> None:
    world.now_s += 60
    world.retry("once")
    world.stage("customers", [(_CUSTOMER, 1)])

    _begin_again(world)

    (row,) = world.tables.rows("errors")
    assert row["attempts"] == 0
    counts = []
    for delay in (60, 120, 240):
        world.now_s += delay
        counts.append(world.retry(f"at-{world.now_s}"))
    assert [each.waiting for each in counts] == [1, 1, 0]
    assert "parkedAt" in world.tables.rows("errors")[0]


def test_a_record_that_was_parked_is_not_released_in_tables_that_are_built_again(
    world: World,
) -> None:
    for delay in (60, 120, 240):
        world.now_s += delay
        world.retry(f"at-{world.now_s}")
    before = world.tables.rows("errors")

    _begin_again(world)

    assert world.stage("customers", [(_CUSTOMER, 1)]) == {}
    assert world.tables.rows("errors") == before
    assert (world.tables.rows("p-done"), world.tables.rows("waiting")) == ([], [])
