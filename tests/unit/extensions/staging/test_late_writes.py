"""Writes of the waiting table that were cut off, made again, and take effect once more later."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from penstock.sinks.dynamodb_client import Body
from tests.stubs.dynamodb_tables import DynamoDbTables, EachCall
from tests.unit.extensions.staging.joining import PLAN, World, open_tables

_TRIP = {"trip": "t1", "buyer": "c1", "order": "o1", "line": 1}


class _CutOff(EachCall):
    """A client whose batches have no answer at first; `late` are those attempts."""

    def __init__(self, tables: DynamoDbTables) -> None:
        self.attempts = tables.attempts
        self.late: list[bytes] = []
        self._tables = tables

    def call(self, operation: str, body: Body, read: Callable[[Any], Any] = dict) -> Any:
        if operation == "BatchWriteItem":
            self.late.append(body if isinstance(body, bytes) else body())
        return self._tables.call(operation, body, read)


@pytest.mark.parametrize("late", [0, 1], ids=["of the item", "of the marker"])
def test_a_write_that_takes_effect_late_loses_no_wake_up(late):
    tables = open_tables(PLAN)
    writer, other = World(_CutOff(tables)), World(tables)
    other.stage("lines", [({"order": "o1", "line": 1}, 1)])
    writer.stage("trips", [(_TRIP, 1)])

    def come_late(operation: str) -> None:
        if operation == "DeleteItem":  # the release has read what it deletes, and written it again
            tables.before = lambda operation: None
            tables.call("BatchWriteItem", writer.tables.late[late])

    tables.before = come_late
    other.stage("customers", [("c1", 2)])
    other.stage("customers", [({"customer": "c1"}, 3)])

    assert [row["trip"] for row in tables.rows("p-done")] == ["t1"]
