"""A record that another stage gave up has a dead letter of its own when its driver waits."""

from __future__ import annotations

import pytest

from penstock.errors import Failure, Reason
from penstock.extensions.staging import JoinEvent
from penstock.records import FailedRecord, Record, Source
from penstock.sinks import Selection
from tests.unit.extensions.staging.joining import PLAN, World, open_tables

_TRIP = {"trip": "t1", "buyer": "c1", "order": "o1", "line": 2}
_CUSTOMER = {"customer": "c1"}
_LINE = {"order": "o1", "line": 2}
_FAILURE = Failure(Reason.LOSSY_WIDENING, "the lake's column would round it")
_RECORD = Record(Source("trips", 0, 7), None, b"{}", (), 1_007)


def _list(world: World) -> list[tuple[str, str]]:
    return [(row.stage, row.reason) for row in world.errors.describe(Selection())]


@pytest.fixture(params=["lambda", "spark"])
def other(request: pytest.FixtureRequest) -> str:
    """The stage that gave the record up, such as a driver table's sink of the lake."""
    return request.param


@pytest.fixture
def world(other: str) -> World:
    world = World(open_tables(PLAN))
    world.stage("lines", [(_LINE, 1)])
    world.errors.keep([FailedRecord(_RECORD, _FAILURE, None, other, 5)])
    assert world.stage("trips", [(_TRIP, 7)]) == {JoinEvent.WAITING: 1}
    return world


def test_the_letter_of_another_stage_does_not_hide_the_joins(world: World, other: str) -> None:
    assert sorted(_list(world)) == sorted([("join", "unmet-dependency"), (other, "lossy-widening")])

    for delay in (60, 120, 240):
        world.now_s += delay
        counts = world.retry(f"at-{world.now_s}")

    assert counts.parked == 1
    assert _list(world) == [(other, "lossy-widening")]


def test_a_release_does_not_close_the_letter_of_another_stage(world: World, other: str) -> None:
    assert world.stage("customers", [(_CUSTOMER, 1)]) == {JoinEvent.RELEASED: 1}

    assert _list(world) == [(other, "lossy-widening")]


def test_records_of_two_stages_are_parked_and_logged_under_their_own_names(world: World) -> None:
    for delay in (60, 120, 240):
        world.now_s += delay
        world.retry(f"at-{world.now_s}")

    assert [name for name in world.store.objects if name.startswith("records/")] == [
        "records/trips/0/7/1007/join.json"
    ]
    assert len([name for name in world.store.objects if name.startswith("dead-letters/")]) == 2


def test_the_letter_of_an_older_version_is_the_joins_own() -> None:
    """Its id was the record's, whatever stage gave the record up."""
    world = World(open_tables(PLAN))
    world.stage("lines", [(_LINE, 1)])
    world.stage("trips", [(_TRIP, 7), (_TRIP | {"trip": "t2", "buyer": "c2"}, 8)])
    for name in ("errors", "waiting"):
        table = world.tables.tables[name]
        items = table.items()
        table.parts.clear()
        table.due.clear()
        for item in items:
            table.put(item | {"id": {"S": item["id"]["S"].removesuffix("/join")}})

    assert world.stage("customers", [(_CUSTOMER, 1)]) == {JoinEvent.RELEASED: 1}
    world.now_s += 60
    assert world.retry("first").waiting == 1

    rows = {row["id"]: row for row in world.tables.rows("errors")}
    assert rows["trips/0/7/1007"].keys() >= {"doneAt"}
    assert rows["trips/0/8/1008"]["attempts"] == 1
