"""A driver that waits is a dead letter, however long the names of the rows that it lacks are."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from penstock.extensions.staging import Dependency, JoinEvent, Role, StagedTable, StagingPlan
from penstock.records import Mode, Record, RowShape, Source, make_row
from penstock.sinks import UpsertWriter
from tests.stubs.dynamodb_tables import MAX_ITEM_BYTES, size
from tests.unit.extensions.staging.joining import World, open_tables

_LONG = "/" * 2_047  # in a name of two parts, each is three characters
_SHORT = "/" * 1_000
_SHAPE = RowShape(key=("a",), sort=("b",), sort_name="b", event_time=None, mode=Mode.UPSERT)


def _plan(dependencies: int) -> StagingPlan:
    """A driver and tables of two parts each, all found by the same two columns of the driver."""
    names = [f"d{number}" for number in range(dependencies)]
    tables = [StagedTable(each, _SHAPE, topics=(each,)) for each in names]
    needs = tuple(Dependency(each, (("a", "c"), ("b", "d")), f"r_{each}") for each in names)
    driver = StagedTable(
        "trips", _SHAPE, topics=("trips",), role=Role.DRIVER, final="done", dependencies=needs
    )
    return StagingPlan((*tables, driver))


def _stage(world: World, value: bytes = b"x" * 389_000, **fields: str) -> Any:
    """Stage a driver from a record with as many bytes as a dead letter may hold."""
    trips = world.plan.table("trips")
    record = Record(Source("trips", 0, 7), None, value, (), 1_007)
    event = {"a": _LONG, "b": _SHORT, "c": _LONG, "d": _SHORT} | fields
    row = make_row(trips.shape, event, record, 1, "v1")
    UpsertWriter(world.tables, "p-trips", trips.shape).write([row])
    return world.joiner.join(trips, [(row, partial(world._give_up, record))])


def _retry_until_parked(world: World) -> int:
    parked = 0
    for delay in (60, 120, 240):
        world.now_s += delay
        parked += world.retry(f"at-{world.now_s}").parked
    return parked


@pytest.mark.parametrize("dependencies", [1, 2, 60])
def test_a_large_record_with_long_names_waits_and_is_parked(dependencies: int) -> None:
    plan = _plan(dependencies)
    world = World(open_tables(plan), plan)

    assert _stage(world) == {JoinEvent.WAITING: 1}

    (letter,) = world.tables.rows("errors")
    assert len(letter["waitingFor"]) == min(dependencies, 32)
    assert {len(each.encode()) for each in letter["waitingFor"]} == {2_048}
    assert world.store.get(letter["valueAt"]) == b"x" * 389_000
    assert _retry_until_parked(world) == 1
    assert [row["driver"] for row in world.tables.rows("waiting")] == ["-"]


def test_a_row_with_a_long_name_releases_its_driver() -> None:
    plan = _plan(1)
    world = World(open_tables(plan), plan)
    _stage(world)

    assert world.stage("d0", [({"a": _LONG, "b": _SHORT}, 1)]) == {JoinEvent.RELEASED: 1}


def test_a_letter_has_room_for_rows_that_its_driver_lacks_later() -> None:
    plan = _plan(60)
    *needs, last = plan.table("trips").dependencies
    last = replace(last, key=(("a", "e"), ("b", "e")))
    plan = StagingPlan(
        (*plan.tables[:-1], replace(plan.table("trips"), dependencies=(*needs, last)))
    )
    world = World(open_tables(plan), plan)
    for need in needs:
        world.stage(need.table, [({"a": _LONG, "b": _SHORT}, 1)])
    largest = 299_000  # what stays in the row
    assert _stage(world, b"x" * largest, e="s") == {JoinEvent.WAITING: 1}
    assert "valueAt" not in world.tables.rows("errors")[0]
    for need in needs:
        world.tables.tables[f"p-{need.table}"].parts.clear()

    world.now_s += 60
    assert world.retry("first").waiting == 1

    (item,) = world.tables.tables["errors"].items()
    assert len(item["waitingFor"]["L"]) == 32
    assert size(item) < MAX_ITEM_BYTES
