"""The steps in which a batch of topics is written to its tables."""

from __future__ import annotations

from typing import Any
from unittest.mock import MagicMock

import pytest

from penstock.errors import CheckpointError
from penstock.registry import Registries
from penstock.spark.query import table_batches
from penstock.spark.query.parts import BatchContext
from penstock.spark.query.table_batches import TableBatches, group_steps
from penstock.spark.sinks.base import Sink
from penstock.spark.sinks.dynamodb import DynamoDbTable
from penstock.spark.sinks.table import Route, Table
from penstock.spark.state.schema_ledger import Lookups
from penstock.tables import BatchId

_NOTHING: Any = None


class _Lake(Sink):
    """A sink that needs columns."""


def _table(name: str, *sinks: Sink, is_driver: bool = False) -> Table:
    given = sinks or (DynamoDbTable(name, _NOTHING),)
    return Table(given, Route(topics=(name,)), name, comes_last=is_driver)


def test_tables_of_dynamodb_are_one_step_and_their_drivers_another() -> None:
    both = _table("both", _Lake(), DynamoDbTable("both", _NOTHING))
    tables = [
        _table("a"), _table("b"), _table("lake", _Lake()), both, _table("c"),
        _table("d", is_driver=True),
    ]  # fmt: skip

    def name_steps(context: BatchContext) -> list[tuple[bool, list[str]]]:
        return [(one, list(groups)) for one, groups in group_steps(tables, context)]

    context = BatchContext(Registries([]), _NOTHING)
    assert name_steps(context) == [
        (True, ["a", "b"]), (False, ["lake", "both"]), (True, ["c"]), (True, ["d"]),
    ]  # fmt: skip
    transformed = BatchContext(Registries([]), _NOTHING, transform=lambda rows: rows)
    assert name_steps(transformed) == [(False, ["a", "b", "lake", "both", "c"]), (False, ["d"])]


def test_records_of_a_topic_without_a_table_stop_the_query(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_batches, "F", MagicMock())  # it needs a session
    records = MagicMock()
    records.groupBy().agg().collect.return_value = [{"topic": "a"}, {"topic": "other"}]
    context = BatchContext(Registries([]), _NOTHING)
    batches = TableBatches([_table("a")], lambda _: Lookups(), context)

    with pytest.raises(CheckpointError, match="records of the topic other, which no table takes"):
        batches.write_batch(records, BatchId("q", 0))
