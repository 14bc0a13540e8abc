"""The steps in which a batch of topics is written to its tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from unittest.mock import MagicMock

import pytest

from penstock.errors import CheckpointError
from penstock.registry import Registries
from penstock.spark.query import table_batches
from penstock.spark.query.parts import BatchContext
from penstock.spark.query.table_batches import TableBatches, group_steps
from penstock.spark.sinks.base import Capabilities, Sink
from penstock.spark.sinks.dynamodb import DynamoDbTable
from penstock.spark.sinks.table import Route, Table
from penstock.spark.state.schema_ledger import Lookups
from penstock.tables import BatchId

_NOTHING: Any = None


class _Columns(Sink):
    """A sink that needs columns."""


class _Lake(Sink):
    """A sink whose files a job may write with those of other tables."""

    capabilities = Capabilities(shares_job=True)


def _table(name: str, *sinks: Sink, is_driver: bool = False) -> Table:
    given = sinks or (DynamoDbTable(name, _NOTHING),)
    return Table(given, Route(topics=(name,)), name, comes_last=is_driver)


def _name_steps(tables: Sequence[Table], context: BatchContext) -> list[tuple[str, list[str]]]:
    steps = group_steps(tables, context)
    return [(step.__name__.lstrip("_"), list(groups)) for step, groups in steps]


_CONTEXT = BatchContext(Registries([]), _NOTHING)
_TRANSFORMED = BatchContext(Registries([]), _NOTHING, transform=lambda rows: rows)


def test_tables_of_dynamodb_are_one_step_and_their_drivers_another() -> None:
    both = _table("both", _Columns(), DynamoDbTable("both", _NOTHING))
    tables = [
        _table("a"), _table("b"), _table("columns", _Columns()), both, _table("c"),
        _table("d", is_driver=True),
    ]  # fmt: skip

    assert _name_steps(tables, _CONTEXT) == [
        ("RecordBatches", ["a", "b"]), ("GroupBatches", ["columns", "both"]),
        ("RecordBatches", ["c"]), ("RecordBatches", ["d"]),
    ]  # fmt: skip
    assert _name_steps(tables, _TRANSFORMED) == [
        ("GroupBatches", ["a", "b", "columns", "both", "c"]), ("GroupBatches", ["d"]),
    ]  # fmt: skip


def test_several_tables_of_a_lake_are_one_step_and_one_alone_is_a_query() -> None:
    lakes = [_table("one", _Lake()), _table("two", _Lake())]
    assert _name_steps(lakes, _CONTEXT) == [("AppendBatches", ["one", "two"])]
    assert _name_steps(lakes[:1], _CONTEXT) == [("GroupBatches", ["one"])]
    assert _name_steps(lakes, _TRANSFORMED) == [("GroupBatches", ["one", "two"])]


def test_records_of_a_topic_without_a_table_stop_the_query(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_batches, "F", MagicMock())  # it needs a session
    records = MagicMock()
    records.groupBy().agg().collect.return_value = [{"topic": "a"}, {"topic": "other"}]
    context = BatchContext(Registries([]), _NOTHING)
    batches = TableBatches([_table("a")], lambda _: Lookups(), context)

    with pytest.raises(CheckpointError, match="records of the topic other, which no table takes"):
        batches.write_batch(records, BatchId("q", 0))
