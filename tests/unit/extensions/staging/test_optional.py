"""A driver needs no row of an optional dependency if its columns for it have no value."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from penstock.extensions.staging import JoinEvent, StagingPlan
from tests.unit.extensions.staging.joining import PLAN, World, open_tables

_TRIP = {"trip": "t1", "buyer": "c1", "order": "o/1", "line": 2}
_CUSTOMER = {"customer": "c1", "name": "Ada"}
_LINE = {"order": "o/1", "line": 2, "price": 1.5}


@pytest.fixture
def world() -> World:
    *others, trips = PLAN.tables
    optional = tuple(replace(each, optional=True) for each in trips.dependencies)
    plan = StagingPlan((*others, replace(trips, dependencies=optional)))
    return World(open_tables(plan), plan)


@pytest.mark.parametrize(
    ("change", "has_customer", "has_line"),
    [
        ({"buyer": None}, False, True),
        ({"line": None}, True, False),
        ({"order": None, "line": None}, True, False),
        ({"buyer": None, "order": None}, False, False),
    ],
)
def test_a_driver_without_a_value_is_joined_without_the_row(
    world: World, change: dict[str, Any], has_customer: bool, has_line: bool
) -> None:
    trip = _TRIP | change
    world.stage("customers", [(_CUSTOMER, 1)])
    world.stage("lines", [(_LINE, 1)])

    counts = world.stage("trips", [({k: v for k, v in trip.items() if v is not None}, 7)])
    counts += world.stage("trips", [(trip, 8)])

    assert counts == {JoinEvent.JOINED: 2}
    (final,) = world.tables.rows("p-done")
    assert ("customer" in final, "line_row" in final) == (has_customer, has_line)
    assert (world.tables.rows("errors"), world.tables.rows("waiting")) == ([], [])


def test_a_driver_with_a_value_waits_for_the_row(world: World) -> None:
    trip = _TRIP | {"line": None}

    assert world.stage("trips", [(trip, 7)]) == {JoinEvent.WAITING: 1}
    assert world.stage("customers", [(_CUSTOMER, 1)]) == {JoinEvent.RELEASED: 1}

    (final,) = world.tables.rows("p-done")
    assert (final["customer"], "line_row" in final) == (_CUSTOMER, False)


def test_a_newer_version_of_the_driver_gains_and_loses_the_row(world: World) -> None:
    world.stage("lines", [(_LINE, 1)])
    without = _TRIP | {"buyer": None}
    found = []
    for offset, trip in ((7, without), (8, _TRIP), (9, without)):
        world.stage("trips", [(trip, offset)])
        world.stage("customers", [(_CUSTOMER, offset)])
        found += ["customer" in row for row in world.tables.rows("p-done")]

    assert found == [False, True, False]


def test_a_deleted_driver_and_one_that_needs_nothing_are_final_rows(world: World) -> None:
    trip = {"trip": "t1", "note": "x"}
    assert world.stage("trips", [(trip, 7)]) == {JoinEvent.JOINED: 1}
    assert world.tables.rows("p-done") == world.tables.rows("p-trips")

    world.stage("trips", [("t1", 8)])

    assert [row["_deleted"] for row in world.tables.rows("p-done")] == [True]


@pytest.mark.parametrize("buyer", ["", 0.5, True])
def test_a_value_that_is_no_key_is_unroutable_all_the_same(world: World, buyer: object) -> None:
    assert world.stage("trips", [(_TRIP | {"buyer": buyer}, 7)]) == {"unroutable": 1}
