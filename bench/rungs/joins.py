"""The rung of joins of staged tables: rows found by key, against scans of the tables."""

from __future__ import annotations

import json
import time
from typing import Any

from bench.ladder import Form, Result, Rung, least, race, ratio, speeds
from demo.staging.publisher import DRIVER, TABLES, Publisher
from penstock.extensions.staging import (
    Joiner,
    StagingPlan,
    UnjoinedTable,
    WaitingTable,
    read_configuration,
)
from penstock.records import Record, Source, make_row
from penstock.sinks import ObjectStore, UpsertWriter
from penstock.sinks.item_json import read_item
from tests.stubs.dynamodb_tables import DynamoDbTables

_ROWS = 1_000  # of the driving table; the others have as many or fewer
_SCANNED = 10  # rows that are joined by scans in a turn
_Row = dict[str, Any]


def _stage(drivers: int) -> tuple[StagingPlan, DynamoDbTables, dict[str, list[_Row]]]:
    """Return a plan, its tables in memory, and the rows that are in them."""
    plan = read_configuration(json.dumps({"tables": TABLES}), {}).plan
    keys = {each.name: each.shape.table_key for each in plan.tables}
    tables = DynamoDbTables(
        {
            **keys,
            "fulfilments": keys[DRIVER],
            "waiting": ("waitingFor", "driver"),
            "errors": ("id",),
        }
    )
    rows: dict[str, list[_Row]] = {each.name: [] for each in plan.tables}
    changes = next(Publisher(1, drivers, ticks=1, lateness=(1, 0, 0, 0, 0)).publish())
    for offset, each in enumerate(changes):
        shape, record = (
            plan.table(each.table).shape,
            Record(Source(each.table, 0, offset), b"", b""),
        )
        rows[each.table].append(make_row(shape, each.row, record, 1, "v1"))
    for name, own in rows.items():
        UpsertWriter(tables, name, plan.table(name).shape).write(own)  # type: ignore[arg-type]
    return plan, tables, rows


def _scan(plan: StagingPlan, tables: DynamoDbTables, drivers: list[_Row]) -> None:
    """Join rows one by one, each with a scan of each table that it depends on."""
    table = plan.table(DRIVER)
    writer = UpsertWriter(tables, "fulfilments", table.shape)  # type: ignore[arg-type]
    for driver in drivers:
        final = dict(driver)
        for each in table.dependencies:
            for item in tables.tables[each.table].items():
                row = read_item(item)
                if all(row[field] == driver[column] for field, column in each.key):
                    final[each.name] = row
        writer.write([final])


def _join(form: Form) -> Result:
    plan, tables, rows = _stage(min(_ROWS, form.calls))
    client: Any = tables
    errors = UnjoinedTable(client, "errors", ObjectStore(""), 60)
    joiner = Joiner(client, plan, "{table}", WaitingTable(client, "waiting"), errors)
    drivers = rows[DRIVER]

    def join() -> float:
        tables.tables["fulfilments"].parts.clear()
        started = time.process_time()
        joiner.join(plan.table(DRIVER), [(row, _not_given_up) for row in drivers])
        assert len(tables.tables["fulfilments"].parts) == len(drivers)
        return time.process_time() - started

    def scan() -> float:
        tables.tables["fulfilments"].parts.clear()
        started = time.process_time()
        _scan(plan, tables, drivers[:_SCANNED])
        assert len(tables.tables["fulfilments"].parts) == _SCANNED
        return (time.process_time() - started) * len(drivers) / _SCANNED

    turns = race({"product": join, "scans": scan})
    return Result(ratio(turns, "product", "scans"), "times", speeds(turns, len(drivers)))


def _not_given_up(failure: Any) -> Any:
    raise AssertionError(failure)


JOINS: tuple[Rung, ...] = (
    least(
        "join",
        f"rows of {_ROWS:,} drivers joined with four tables in memory, CPU against a scan of"
        " each table for each row",
        10,
        _join,
    ),
)
