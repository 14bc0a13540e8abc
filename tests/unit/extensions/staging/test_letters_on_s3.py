"""Retries read the bytes that a row has no room for only to park them, and one record at a time."""

from __future__ import annotations

import json
from base64 import b64decode
from dataclasses import dataclass, field

import pytest

from penstock.errors import SinkAccessDeniedError
from tests.unit.extensions.staging.joining import PLAN, MemoryStore, World, open_tables

_TRIP = {"buyer": "c1", "order": "o1", "line": 2}
_CUSTOMER = {"customer": "c1"}
_LINE = {"order": "o1", "line": 2}
_LARGE = b"x" * 400_000
_DELAYS = (60, 120, 240)


@dataclass
class _Store(MemoryStore):
    """A bucket that notes the calls for each trip, by their offsets, and denies some objects."""

    calls: list[tuple[str, int]] = field(default_factory=list)
    denied: set[int] = field(default_factory=set)

    def put(self, name: str, content: bytes) -> str:
        if name.startswith("records/"):
            self.calls.append(("put", _read_offset(name)))
        return super().put(name, content)

    def get(self, where: str) -> bytes:
        offset = _read_offset(where)
        self.calls.append(("get", offset))
        if offset in self.denied:
            raise SinkAccessDeniedError(f"{where} cannot be read")
        return super().get(where)

    def take(self, offset: int) -> tuple[str, bytes]:
        """Remove the bytes of a trip."""
        name = f"errors/trips/0/{offset}/{1_000 + offset}/join/value"
        return name, self.objects.pop(name)


def _read_offset(name: str) -> int:
    return int(name.partition("trips/0/")[2].partition("/")[0])


@pytest.fixture
def store() -> _Store:
    return _Store()


@pytest.fixture
def world(store: _Store) -> World:
    """Three large trips that wait for a customer and a line."""
    world = World(open_tables(PLAN), store=store)
    world.value = _LARGE
    world.stage("trips", [(_TRIP | {"trip": f"t{n}"}, n) for n in range(3)])
    return world


def _retry(world: World, *delays: int) -> None:
    for delay in delays:
        world.now_s += delay
        world.retry(f"at-{world.now_s}")


def _find_parked(world: World) -> list[int]:
    rows = world.tables.rows("errors")
    return sorted(_read_offset(row["parkedAt"]) for row in rows if "parkedAt" in row)


def test_only_bytes_that_are_parked_are_read_and_no_two_records_at_once(
    world: World, store: _Store
) -> None:
    _retry(world, *_DELAYS[:2])
    assert store.calls == []

    _retry(world, _DELAYS[2])

    assert store.calls == [(call, n) for n in range(3) for call in ("get", "put")]
    assert _find_parked(world) == [0, 1, 2]
    parked = json.loads(store.objects["records/trips/0/1/1001/join.json"])
    assert (b64decode(parked["value"]), parked["attempts"]) == (_LARGE, 3)
    assert parked["waiting_for"] == ["customers/c1", "lines/o1/2"]


def test_a_record_whose_bytes_are_lost_is_not_parked_until_they_are_back(
    world: World, store: _Store, caplog: pytest.LogCaptureFixture
) -> None:
    name, content = store.take(1)
    _retry(world, *_DELAYS[:2])
    world.now_s += _DELAYS[2]

    counts = world.retry("third")

    assert (counts.parked, counts.lost, _find_parked(world)) == (2, 1, [0, 2])
    assert "records/trips/0/1/1001/join.json" not in store.objects
    assert caplog.messages == [
        f"the row trips/0/1/1001/join cannot be parked: s3://parked/{name} is not there, expected "
        "what the row has no room for; bring the object back, or delete the row"
    ]
    assert world.retry("too-early").lost == 0
    world.now_s += 480
    assert world.retry("fourth").lost == 1
    store.objects[name] = content
    world.now_s += 480
    assert (world.retry("fifth").parked, _find_parked(world)) == (1, [0, 1, 2])
    assert (
        b64decode(json.loads(store.objects["records/trips/0/1/1001/join.json"])["value"]) == _LARGE
    )


def test_a_record_whose_bytes_are_lost_is_joined_when_its_dependencies_arrive(
    world: World, store: _Store
) -> None:
    store.take(1)
    _retry(world, *_DELAYS)

    world.stage("lines", [(_LINE, 1)])
    world.stage("customers", [(_CUSTOMER, 1)])

    assert [row["trip"] for row in world.tables.rows("p-done")] == ["t1"]


def test_an_object_that_cannot_be_read_holds_up_no_other_record(
    world: World, store: _Store
) -> None:
    store.denied.add(1)
    _retry(world, *_DELAYS[:2])
    world.now_s += _DELAYS[2]

    with pytest.raises(SinkAccessDeniedError):
        world.retry("third")
    assert _find_parked(world) == [0]
    world.now_s += 480
    with pytest.raises(SinkAccessDeniedError):
        world.retry("fourth")
    assert (world.retry("fifth").parked, _find_parked(world)) == (1, [0, 2])


def test_a_run_that_has_no_time_left_parks_no_more_large_records(
    world: World, store: _Store
) -> None:
    _retry(world, *_DELAYS[:2])
    world.now_s += _DELAYS[2]
    left = iter([True, True, False])

    counts = world.retry("third", lambda: next(left))

    assert (counts.parked, counts.is_complete, _find_parked(world)) == (1, False, [0])
    world.now_s += 480
    assert world.retry("fourth").parked == 2
