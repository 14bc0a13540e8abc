"""The steps in which a batch of topics is written to its tables."""

from __future__ import annotations

from typing import Any

from penstock.records import Projection, RowShape
from penstock.registry import Registries
from penstock.spark.query.batch import TableSinks
from penstock.spark.query.record_tables import RecordTables
from penstock.spark.query.record_task import RecordTable
from penstock.spark.query.stream import StreamQuery
from penstock.spark.query.topics import TopicRoutes
from penstock.spark.state.schema_ledger import Lookups


def _table(name: str, *, is_driver: bool = False) -> RecordTable:
    return RecordTable(name, RowShape(), Projection(), is_driver=is_driver)


def test_tables_of_dynamodb_are_one_step_and_their_drivers_another() -> None:
    routes = TopicRoutes(
        {
            "a": _table("a"), "b": _table("b"), "lake": TableSinks([]), "other": TableSinks([]),
            "c": _table("c"), "d": _table("d", is_driver=True),
        },
        str,
        {},
    )  # fmt: skip
    nothing: Any = None
    query = StreamQuery(
        stream=nothing, checkpoint="", registries=Registries([]), sinks=routes, errors=nothing
    )
    ledgers: Any = {name: Lookups() for name in routes.tables}

    steps = list(query._open_steps(nothing, routes, ledgers))

    assert [
        list(step._tables) if isinstance(step, RecordTables) else step[0] for step in steps
    ] == [["a", "b"], "lake", "other", ["c"], ["d"]]
