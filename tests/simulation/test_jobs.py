"""Drivers over one checkpoint; the checks of joins and replays find what is wrong in letters."""

from __future__ import annotations

import json
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from penstock.errors import SchemaConflictError
from penstock.schemas import policy
from penstock.sinks.item_json import write_item
from tests.simulation.jobs import Jobs
from tests.simulation.programs import World
from tests.simulation.remembered import MEMORY, results_remembered
from tests.simulation.replays import Replays
from tests.simulation.run import run
from tests.simulation.scheduler import Scheduler
from tests.simulation.shop import How, Shop, make_shop_tables
from tests.simulation.trips import check_letters


@pytest.mark.parametrize("seed", range(13))
def test_each_record_of_a_job_is_in_the_lake_once(seed):
    report = run(seed, programs=["jobs"])

    assert report.counts["job_commits"] > 0
    assert report.problems == []


def test_rows_that_are_missing_or_twice_are_found():
    scheduler = Scheduler(0)
    world = World.build(scheduler, 0)
    jobs = Jobs(scheduler, world.weather, world.open_dynamodb)
    jobs.records = 3
    jobs.table.metadata = jobs.table.metadata.__class__(rows=(0, 2, 2))
    jobs.table.fences = [2, 1]

    missing, twice, fences = jobs.check()

    assert missing == "1 records are not in the lake, such as 1"
    assert twice.startswith("the lake has 1 rows too many")
    assert fences == "a driver wrote after another one had taken over: [2, 1]"


def test_a_program_that_stalls_and_its_children_have_no_turns_until_it_goes_on():
    scheduler, did = Scheduler(0), []

    def live() -> None:
        scheduler.start("child", lambda: (scheduler.sleep(2), did.append(scheduler.now)))
        scheduler.sleep(1)
        did.append(scheduler.now)

    program = scheduler.start("it", live)
    scheduler.run(0.5)
    program.stall_until = 10
    scheduler.run(20)

    assert did == [10, 10]


def test_remembered_results_are_those_of_the_functions_and_nobody_changes_them():
    one, long, text = (_make_schema(*types) for types in ([], ["long"], ["string"]))
    plain = policy.merge_schemas([one, long])

    with results_remembered():
        first: Any = policy.merge_schemas([one, long])
        assert first == plain
        assert policy.merge_schemas([one, long]) is first
        for _ in "12":
            with pytest.raises(SchemaConflictError, match="long"):
                policy.merge_schemas([text, long])
    run(0, hours=0.2, programs=["events"])
    assert MEMORY.find_changed() == []
    first["fields"].clear()
    assert MEMORY.find_changed() == [first]
    first["fields"] += plain["fields"]


def _make_schema(*types: str) -> Any:
    return {"type": "record", "name": "r", "fields": [{"name": "a", "type": it} for it in types]}


@pytest.mark.parametrize(
    ("after", "said"),
    [
        ({"nextAttemptAt": 70}, ""),
        ({"nextAttemptAt": 60}, "was due, and the retries left it"),
        ({"attempts": 3, "nextAttemptAt": 70}, "was parked, and its letter is"),
        ({"attempts": 3, "parkedAt": "s3://"}, ""),
    ],
)
def test_a_run_of_the_retries_that_leaves_letters_is_found(after, said):
    scheduler, tables = Scheduler(0), make_shop_tables()
    world = World.build(scheduler, 0)
    shop = Shop(
        scheduler,
        world.weather,
        tables,
        partial(world.open_dynamodb, tables),
        world.bucket,
        How.NEVER,
    )
    before, now = (
        json.loads(write_item({"id": "x", "attempts": 0, "nextAttemptAt": 60} | changes))
        for changes in ({}, after)
    )
    tables.tables["errors"].put(now)

    shop.judge([before], {"records/x.json"})

    assert said in "".join(shop.problems)
    assert bool(shop.problems) == bool(said)


_TRIP = {"trip": "t1", "buyer": "c1", "order": "o", "line": 2}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, []),
        ({"waitingFor": ["lines/o/2"]}, []),
        ({"waitingFor": ["lines/o/3"]}, ["waits for {'lines/o/3'}"]),
        ({"attempts": 1, "nextAttemptAt": 1_180}, []),
        ({"attempts": 2, "nextAttemptAt": 1_180}, ["failed 2 times in -60 s"]),
        ({"attempts": 4, "nextAttemptAt": 9_000}, ["was tried 4 times"]),
        ({"attempts": 3, "parkedAt": "s3://", "expiresAt": 1_420 + 365 * 86_400}, []),
        ({"attempts": 3, "parkedAt": "s3://", "expiresAt": 1_200 + 365 * 86_400}, ["in 200 s"]),
    ],
)
def test_letters_of_joins_that_are_wrong_are_found(changes, said):
    letter = {"id": "trips/0/0/1000/join", "attempts": 0, "firstSeen": 1_000_000}
    if "parkedAt" not in changes:
        letter["nextAttemptAt"] = 1_060

    found = list(check_letters([_TRIP], [letter | changes]))

    assert len(found) == len(said)
    assert all(each in text for each, text in zip(said, found, strict=True))


@pytest.mark.parametrize(
    ("letter", "said"),
    [
        ({"attempts": 1}, ""),
        ({"attempts": 2}, "failed 2 times in 1 replays"),
        ({"attempts": 0, "expiresAt": 5}, "is open, and expires"),
        ({"attempts": 0, "doneAt": 5, "expiresAt": 1_000 + 365 * 86_400}, ""),
        ({"attempts": 0, "doneAt": 5, "expiresAt": 2_000}, "expires 1000 s after"),
        (
            {"attempts": 1, "parkedAt": "s3://simulated/x", "value": b"a", "expiresAt": 5},
            "is parked as None",
        ),
    ],
)
def test_letters_of_replays_that_are_wrong_are_found(letter, said):
    world: Any = SimpleNamespace(bucket=SimpleNamespace(objects={}))
    replays = Replays(world, began=[1_000.0])

    found = list(replays.check({"x": {"firstSeen": 1_000_000, **letter}}))

    assert said in "".join(found)
    assert bool(found) == bool(said)
