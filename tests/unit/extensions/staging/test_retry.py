"""Rows that wait are joined again when their retries are due; three failures park the record."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from penstock.extensions.staging import Role, StagingPlan
from penstock.sinks import Selection
from tests.unit.extensions.staging.joining import PLAN, World, open_tables

_TRIP = {"trip": "t1", "buyer": "c1", "order": "o1", "line": 2}
_CUSTOMER = {"customer": "c1"}
_LINE = {"order": "o1", "line": 2}


@pytest.fixture
def world() -> World:
    return World(open_tables(PLAN))


def _retry_until_parked(world: World) -> None:
    for delay in (60, 120, 240):
        world.now_s += delay
        world.retry(f"at-{world.now_s}")


def test_delays_double_and_the_third_failure_parks_the_record(world: World) -> None:
    world.stage("trips", [(_TRIP, 7)])

    world.now_s += 59
    assert world.retry("early").waiting == 0
    world.now_s += 1
    assert (world.retry("first").waiting, world.retry("again").waiting) == (1, 0)
    (row,) = world.tables.rows("errors")
    assert (row["attempts"], row["nextAttemptAt"]) == (1, world.now_s + 120)
    world.now_s += 120
    assert world.retry("second").waiting == 1
    world.now_s += 240
    counts = world.retry("third")

    assert (counts.waiting, counts.parked, counts.notices) == (0, 1, 1)
    (row,) = world.tables.rows("errors")
    assert row["parkedAt"] == "s3://parked/records/trips/0/7/1007/join.json"
    assert ("nextAttemptAt" in row, row["expiresAt"] > world.now_s) == (False, True)
    parked = json.loads(world.store.objects["records/trips/0/7/1007/join.json"])
    assert (parked["driver"], parked["attempts"], parked["stage"]) == ("trips/t1", 3, "join")
    assert parked["waiting_for"] == ["customers/c1", "lines/o1/2"]
    notice = json.loads(world.store.objects["notices/1-records-of-third-0.json"])
    assert (notice["parked"], notice["reasons"]) == (1, {"unmet-dependency": 1})


def test_two_retries_at_once_count_a_failure_once(world: World) -> None:
    world.stage("trips", [(_TRIP | {"trip": f"t{n}"}, n) for n in range(3)])
    world.now_s += 60
    other = World(world.tables, store=world.store)
    other.now_s = world.now_s
    counts = []

    def retry_too(operation: str) -> None:
        if operation == "UpdateItem":  # all letters are read, and none is counted
            world.tables.before = lambda operation: None
            counts.append(other.retry("other"))

    world.tables.before = retry_too

    counts.append(world.retry("first"))

    assert [each.waiting for each in counts] == [3, 0]
    assert {row["attempts"] for row in world.tables.rows("errors")} == {1}


def test_a_replay_leaves_what_was_not_joined_to_the_retries(world: World) -> None:
    world.stage("trips", [(_TRIP, 7)])

    assert [*world.errors.find(Selection())] == []
    (listed,) = world.errors.describe(Selection())
    assert (listed.driver, listed.waiting_for[:1]) == ("trips/t1", ("customers/c1",))


def test_a_parked_record_stays_parked_when_its_dependencies_arrive(world: World) -> None:
    world.stage("trips", [(_TRIP, 7)])
    _retry_until_parked(world)

    world.stage("lines", [(_LINE, 1)])
    assert world.stage("customers", [(_CUSTOMER, 1)]) == {}

    assert world.tables.rows("p-done") == []


def test_a_batch_that_comes_again_does_not_let_a_parked_record_be_joined(world: World) -> None:
    world.stage("lines", [(_LINE, 1)])
    world.stage("trips", [(_TRIP, 7)])
    _retry_until_parked(world)

    world.stage("trips", [(_TRIP, 7)])
    assert world.stage("customers", [(_CUSTOMER, 1)]) == {}

    assert (world.tables.rows("p-done"), world.tables.rows("waiting")) == ([], [])


def test_a_record_that_is_being_parked_is_not_released(world: World) -> None:
    world.stage("lines", [(_LINE, 1)])
    world.stage("trips", [(_TRIP, 7)])
    put = world.store.put

    def put_late(name: str, content: bytes) -> str:
        world.stage("customers", [(_CUSTOMER, 1)])
        return put(name, content)

    world.store.put = put_late
    _retry_until_parked(world)

    (row,) = world.tables.rows("errors")
    assert ("parkedAt" in row, "doneAt" in row) == (True, False)
    assert world.tables.rows("p-done") == []


def test_a_retry_finds_what_no_arrival_announced(world: World) -> None:
    world.stage("trips", [(_TRIP, 7)])
    for row in world.tables.tables["waiting"].items():
        world.tables.tables["waiting"].delete(row)
    world.stage("customers", [(_CUSTOMER, 1)])
    world.stage("lines", [(_LINE, 1)])

    world.now_s += 60
    assert world.retry("first").joined == 1

    assert len(world.tables.rows("p-done")) == 1
    assert "doneAt" in world.tables.rows("errors")[0]


def test_a_record_whose_driver_was_replaced_is_done(world: World) -> None:
    world.stage("trips", [(_TRIP, 7), (_TRIP | {"line": 3}, 8)])
    world.stage("trips", [(_TRIP, 7)])
    world.stage("trips", [(_TRIP | {"line": 4}, 9)])

    world.now_s += 60
    counts = world.retry("first")

    assert (counts.joined, counts.waiting) == (1, 1)
    rows = {row["id"]: row for row in world.tables.rows("errors")}
    assert ["doneAt" in rows[f"trips/0/{n}/100{n}/join"] for n in (8, 9)] == [True, False]


def test_a_run_that_has_no_time_left_keeps_its_progress(world: World) -> None:
    world.stage("trips", [(_TRIP | {"trip": f"t{n}"}, n) for n in range(250)])
    world.now_s += 60
    left = iter([True, False])

    counts = world.retry("first", lambda: next(left))

    assert (counts.waiting, counts.is_complete) == (100, False)
    counts = world.retry("second")
    assert (counts.waiting, counts.is_complete) == (150, True)


def test_a_run_that_has_no_time_left_marks_what_it_parked(world: World) -> None:
    world.stage("trips", [(_TRIP | {"trip": f"t{n}"}, n) for n in range(250)])
    for wait_s in (60, 120):
        world.now_s += wait_s
        world.retry(f"after-{wait_s}")
    world.now_s += 240
    left = iter([True] * 101 + [False])  # before each hundred and each record to park

    counts = world.retry("third", lambda: next(left))

    assert (counts.parked, counts.notices, counts.is_complete) == (100, 1, False)
    assert sum("parkedAt" in row for row in world.tables.rows("errors")) == 100


def test_one_notice_for_all_that_a_run_parks(world: World) -> None:
    world.stage("trips", [(_TRIP | {"trip": f"t{n}"}, n) for n in range(250)])

    _retry_until_parked(world)

    assert [name for name in world.store.objects if name.startswith("notices/")] == [
        f"notices/250-records-of-at-{world.now_s}-0.json"
    ]


def test_a_run_that_ended_before_its_notice_is_made_up_for(world: World) -> None:
    world.stage("trips", [(_TRIP, 7)])
    world.now_s += 60
    world.retry("first")
    world.now_s += 120
    world.retry("second")
    world.now_s += 240

    class Killed(Exception):
        pass

    def fail(name: str, content: bytes) -> str:
        raise Killed

    put, world.store.put = world.store.put, fail
    with pytest.raises(Killed):
        world.retry("third")
    world.store.put = put

    assert world.retry("too-early").parked == 0
    world.now_s += 480
    counts = world.retry("fourth")
    assert (counts.parked, counts.notices, world.retry("fifth").parked) == (1, 1, 0)


def _change_driver(**changes: object) -> StagingPlan:
    *others, trips = PLAN.tables
    return StagingPlan((*others, replace(trips, **changes)))


@pytest.mark.parametrize(
    "plan",
    [
        pytest.param(_change_driver(name="journeys"), id="renamed"),
        pytest.param(StagingPlan(PLAN.tables[:2]), id="removed"),
        pytest.param(
            _change_driver(role=Role.STAGING, dependencies=(), final=None), id="no driver"
        ),
        pytest.param(
            _change_driver(
                shape=replace(PLAN.table("trips").shape, sort=("line",), sort_name="line")
            ),
            id="another key",
        ),
    ],
)
def test_records_of_a_plan_that_changed_are_parked_and_stop_no_other(
    world: World, plan: StagingPlan
) -> None:
    world.stage("trips", [(_TRIP, 7)])
    changed = World(open_tables(plan), plan, world.store)
    for name in ("errors", "waiting"):
        changed.tables.tables[name] = world.tables.tables[name]

    changed.stage("customers", [(_CUSTOMER, 1)])
    _retry_until_parked(changed)

    (row,) = world.tables.rows("errors")
    assert (row["reason"], "parkedAt" in row) == ("unroutable", True)
    assert row["detail"] == "found the row trips/t1, expected a key of a driver table of the plan"


def test_a_record_whose_key_had_two_parts_is_parked_and_not_taken_for_joined() -> None:
    trips = PLAN.table("trips")
    plan = _change_driver(shape=replace(trips.shape, sort=("order",), sort_name="order"))
    world = World(open_tables(plan), plan)
    world.stage("trips", [(_TRIP, 7)])
    changed = World(open_tables(PLAN), PLAN, world.store)
    for name in ("errors", "waiting"):
        changed.tables.tables[name] = world.tables.tables[name]

    _retry_until_parked(changed)

    (row,) = world.tables.rows("errors")
    assert (row["reason"], "parkedAt" in row, "doneAt" in row) == ("unroutable", True, False)
    assert row["detail"] == "found no row trips/t1/o1, expected the row that waits"


def test_a_row_that_no_retry_can_join_is_parked_by_the_first_one(world: World) -> None:
    world.stage("trips", [(_TRIP | {"customer": "c9"}, 7), (_TRIP | {"trip": "t2"}, 8)])

    world.now_s += 60
    counts = world.retry("first")

    assert (counts.waiting, counts.parked) == (1, 1)
    rows = {row["id"]: row for row in world.tables.rows("errors")}
    assert {row["reason"]: "parkedAt" in row for row in rows.values()} == {
        "unroutable": True, "unmet-dependency": False,
    }  # fmt: skip
