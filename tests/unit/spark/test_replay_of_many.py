"""A replay of more dead letters than the driver looks up at once."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import pytest

from penstock.errors import Failure, Reason
from penstock.records import FailedRecord, Record, Source
from penstock.sinks import ErrorTable, Selection, error_table
from penstock.spark.query import replay
from tests.stubs.dynamodb_tables import DynamoDbTables

_FAILURE = Failure(Reason.TRUNCATED, "cut off")


def _record(offset: int) -> FailedRecord:
    record = Record(Source("t", 0, offset), None, b"v", (), 7)
    return FailedRecord(record, _FAILURE, None, "spark", 7)


class _Batches:
    """Tables that take the records of even offsets."""

    deletes = True

    def __init__(self, rows: ErrorTable) -> None:
        self._rows = rows
        self.sizes: list[int] = []

    def write_batch(self, offsets: list[int], _: object) -> None:
        self.sizes.append(len(offsets))
        for each in offsets:
            if each % 2:
                self._rows.count_failures([_record(each)], "r")


def _make_spark() -> Mock:
    """Make a session in which a batch is the offsets of its records."""

    def create(rows: list[Any], _: str) -> Mock:
        return Mock(selectExpr=lambda *_: [row[4] for row in rows])

    return Mock(createDataFrame=create)


def test_letters_are_looked_up_some_at_a_time_and_each_is_tried_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Those that fail again come back in the index, behind those that are still to be read."""
    monkeypatch.setattr(error_table, "_IDS_AT_ONCE", 3)
    monkeypatch.setattr(replay, "_RECORDS_AT_ONCE", 2)
    tables = DynamoDbTables({"errors": ("id",)}, page=2)
    rows = ErrorTable(tables, "errors", Mock(), clock=lambda: 1_000)
    rows.keep_rows([_record(offset) for offset in range(7)])
    assert [len(each) for each in rows.find(Selection())] == [3, 3, 1]
    batches, parked = _Batches(rows), Mock(park=Mock(return_value=[]))

    counts = replay.Replay(_make_spark(), "r", rows, batches, parked).run(Selection())

    assert (counts.selected, counts.done, counts.failed) == (7, 4, 3)
    attempts = {row["id"]: row["attempts"] for row in tables.rows("errors") if "doneAt" not in row}
    assert attempts == {"t/0/1/7/spark": 1, "t/0/3/7/spark": 1, "t/0/5/7/spark": 1}
    assert batches.sizes == [2, 2, 2, 1]
