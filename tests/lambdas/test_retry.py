"""The retry function counts what waits, and retries what is due."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Iterator
from itertools import chain, count, repeat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from penstock.errors import SinkUnavailableError
from penstock.sinks import ParkedRecords, UpsertWriter
from tests.stubs.leases import HeldByAnother
from tests.unit.extensions.staging.joining import DELAY_SECONDS, PLAN, World, open_tables

_ROOT = Path(__file__).parents[2]
_TRIP = {"buyer": "c1", "order": "o1", "line": 2}
_ENVIRON = {
    "AWS_REGION": "eu-central-1",
    "PENSTOCK_ERRORS_TABLE": "errors",
    "PENSTOCK_PARKED_BUCKET": "parked",
    "PENSTOCK_PLAN": str(_ROOT / "tests/data/staging.json"),
    "PENSTOCK_STAGED_TABLES": "p-{table}",
    "PENSTOCK_WAITING_TABLE": "waiting",
}


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Callable[[World], Any]:
    """Load the function into an execution environment of its own, over the tables of a program."""
    for name, value in _ENVIRON.items():
        monkeypatch.setenv(name, value)
    spec = importlib.util.spec_from_file_location(
        "retry_handler", _ROOT / "lambdas/retry/handler.py"
    )
    assert spec and spec.loader
    loader = spec.loader

    def load(world: World) -> Any:
        handler = importlib.util.module_from_spec(spec)
        loader.exec_module(handler)
        handler._joiner, handler._parked = world.joiner, ParkedRecords(world.store)
        handler.time = SimpleNamespace(time=lambda: world.now_s)
        return handler

    return load


def _context(left: Iterator[int], request_id: str = "request") -> Any:
    return SimpleNamespace(
        function_name="function",
        memory_limit_in_mb=512,
        aws_request_id=request_id,
        invoked_function_arn="arn:aws:lambda:eu-central-1:111122223333:function:function",
        get_remaining_time_in_millis=lambda: next(left),
    )


def test_a_run_that_ends_early_has_told_what_waits(
    load: Callable[[World], Any], capsys: pytest.CaptureFixture[str]
) -> None:
    world = World(open_tables(PLAN))
    world.stage("trips", [(_TRIP | {"trip": f"t{n}"}, n) for n in range(150)])
    world.now_s += DELAY_SECONDS

    counts = load(world).lambda_handler({}, _context(chain([60_000] * 4, repeat(10_000))))

    assert (counts["waiting"], counts["is_complete"]) == (100, False)
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["RecordsWaiting"] for line in told if "RecordsWaiting" in line] == [[150.0]]


def test_a_backlog_that_takes_long_to_count_is_retried(
    load: Callable[[World], Any], capsys: pytest.CaptureFixture[str]
) -> None:
    world = World(open_tables(PLAN, page=10))
    world.stage("trips", [(_TRIP | {"trip": f"t{n}"}, n) for n in range(300)])
    world.now_s += DELAY_SECONDS
    left_ms = 120_000

    def take_time(operation: str) -> None:
        nonlocal left_ms
        left_ms -= 5_000 * (operation == "Query")

    world.tables.before = take_time
    context = _context(iter(lambda: left_ms, None))

    counts = load(world).lambda_handler({}, context)

    # Half of the time is for counting: 12 pages. The count says at least how many wait.
    assert (counts["waiting"], counts["is_complete"]) == (100, False)
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["RecordsWaiting"] for line in told if "RecordsWaiting" in line] == [[120.0]]


def test_a_run_that_fails_has_told_what_it_parked(
    load: Callable[[World], Any], capsys: pytest.CaptureFixture[str]
) -> None:
    world = World(open_tables(PLAN))
    world.stage("trips", [(_TRIP | {"trip": f"t{n}"}, n) for n in range(2)])
    handler = load(world)
    for delay in (1, 2):
        world.now_s += delay * DELAY_SECONDS
        handler.lambda_handler({}, _context(repeat(60_000), f"after-{delay}"))
    capsys.readouterr()
    world.now_s += 4 * DELAY_SECONDS
    updates = count(1)

    def fail(operation: str) -> None:
        if operation == "UpdateItem" and next(updates) == 4:  # two failures and a mark before
            raise SinkUnavailableError("the table is down")

    world.tables.before = fail
    with pytest.raises(SinkUnavailableError):
        handler.lambda_handler({}, _context(repeat(60_000)))

    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["RecordsParked"] for line in told if "RecordsParked" in line] == [[1.0]]


def _invoke_twice(load: Callable[[World], Any], at_call: int) -> tuple[World, bool]:
    """Invoke the function a second time at a call of the first, in each of its three runs."""
    world = World(open_tables(PLAN))
    world.stage("lines", [({"order": "o1", "line": 2}, 1)])
    world.stage("trips", [(_TRIP | {"trip": f"t{n}", "buyer": f"c{n}"}, n) for n in range(3)])
    other = World(world.tables, store=world.store)
    first, second = load(world), load(other)
    met = False
    for run, delay in enumerate((1, 2, 4)):
        world.now_s = other.now_s = world.now_s + delay * DELAY_SECONDS
        if run == 1:  # no arrival announces it
            UpsertWriter(world.tables, "p-customers", PLAN.tables[0].shape).write(
                [{"customer": "c0", "_order": "1"}]
            )
        calls = count(1)

        def invoke(operation: str, run: int = run, calls: Iterator[int] = calls) -> None:
            nonlocal met
            if next(calls) == at_call:
                met, world.tables.before = True, lambda operation: None
                second.lambda_handler({}, _context(repeat(60_000), f"second-{run}"))

        world.tables.before = invoke
        first.lambda_handler({}, _context(repeat(60_000), f"first-{run}"))
        world.tables.before = lambda operation: None
        attempts = {row["attempts"] for row in world.tables.rows("errors") if "doneAt" not in row}
        assert attempts == {run + 1}
    return world, met


def test_a_function_that_is_invoked_twice_at_once_counts_and_parks_once(
    load: Callable[[World], Any],
) -> None:
    for at_call in count(1):
        world, met = _invoke_twice(load, at_call)
        errors = {row["driver"]: row for row in world.tables.rows("errors")}
        assert ["parkedAt" in errors[f"trips/t{n}"] for n in range(3)] == [False, True, True]
        world.stage("customers", [({"customer": f"c{n}"}, n) for n in range(3)])
        assert [row["trip"] for row in world.tables.rows("p-done")] == ["t0"]
        assert world.tables.rows("waiting") == []
        notices = [name for name in world.store.objects if name.startswith("notices/")]
        told = [json.loads(world.store.objects[name])["parked"] for name in notices]
        assert sum(told) == 2, (at_call, notices)  # of one run, or one of each
        if not met:
            break
    assert at_call > 10


def test_an_invocation_beside_another_does_nothing(
    load: Callable[[World], Any], capsys: pytest.CaptureFixture[str]
) -> None:
    handler = load(World(open_tables(PLAN)))
    handler._lease = HeldByAnother()

    assert handler.lambda_handler({}, _context(repeat(60_000))) == {"skipped": True}

    (told,) = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert told["RunsSkipped"] == [1.0]
