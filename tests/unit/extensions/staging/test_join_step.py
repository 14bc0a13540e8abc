"""The step of a task that joins what it has written, and its metrics."""

from __future__ import annotations

import json

import pytest

from penstock.errors import Reason
from penstock.extensions.staging import Joiner, JoinTables, StagingPlan
from penstock.extensions.staging.spark.join_step import JoinStep
from tests.unit.extensions.staging.joining import PLAN, World, open_tables


def test_drivers_that_are_joined_released_and_delayed_are_metrics(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    world = World(open_tables(PLAN))

    def open_joiner(tables: JoinTables, plan: StagingPlan) -> Joiner:
        return world.joiner

    monkeypatch.setattr(JoinTables, "open", open_joiner)
    tables = JoinTables(__name__, "waiting", "errors", "parked")

    def follow(table: str, *records: object) -> dict[Reason, int]:
        step = JoinStep(PLAN, table, tables, "job")
        written = world.write(table, [(each, n) for n, each in enumerate(records)])
        counts, awaited = step(written)
        return step.report(counts + step.release(awaited))

    trips = [
        {"trip": f"t{n}", "buyer": buyer, "order": "o", "line": 1}
        for n, buyer in enumerate(("c0", "c1", "c1", "never", None))
    ]
    assert follow("lines", {"order": "o", "line": 1}) == {}
    assert follow("customers", {"customer": "c0"}) == {}
    assert follow("trips", *trips) == {Reason.UNROUTABLE: 1}
    assert follow("customers", {"customer": "c1"}) == {}

    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    figures = [
        {name: value for name, value in line.items() if name not in ("service", "_aws")}
        for line in told
    ]
    assert figures == [
        {"table": "trips", "RecordsJoined": 1, "RecordsDelayed": 3},
        {"table": "customers", "RecordsReleased": 2},
    ]
    assert {line["service"] for line in told} == {"job"}
    (directive,) = told[1]["_aws"]["CloudWatchMetrics"]
    assert directive == {
        "Namespace": "Penstock",
        "Dimensions": [["service"]],
        "Metrics": [{"Name": "RecordsReleased", "Unit": "Count"}],
    }
