"""The result of a query over tables that are written at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from penstock.extensions.cdc.spark import refined
from penstock.extensions.cdc.spark.refined import RefinedTable

_SOURCES = ("lake.film", "lake.language")


class _Spark:
    """A session whose queries read all tables as they are, and take until they may go on."""

    def __init__(self, tables: dict[str, int], results: list[dict[str, int]]) -> None:
        self.catalog = SimpleNamespace(tableExists=lambda name: name.split(".", 1)[1] in tables)
        self.may_end, self.has_begun = Event(), Event()
        self._tables, self._results = tables, results

    def sql(self, _: str) -> Any:
        seen = dict(self._tables)
        self.has_begun.set()
        writer = Mock()
        writer.writeTo.return_value = writer.using.return_value = writer
        writer.tableProperty.return_value = writer
        writer.createOrReplace.side_effect = lambda: self._end(seen)
        return writer

    def _end(self, seen: dict[str, int]) -> None:
        assert self.may_end.wait(10)
        self._results.append(seen)


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> RefinedTable:
    monkeypatch.setattr(refined, "IcebergTable", Mock())
    return RefinedTable("lake.refined", "SELECT 1", sources=_SOURCES, _expiration=Mock())


def _change(spark: _Spark) -> Any:
    return SimpleNamespace(log=SimpleNamespace(changes=1), spark=spark)


def test_the_last_result_has_what_all_tables_of_a_batch_have_committed(table: RefinedTable) -> None:
    tables, results = dict.fromkeys(_SOURCES, 0), list[dict[str, int]]()
    first, second = _Spark(tables, results), _Spark(tables, results)

    with ThreadPoolExecutor(2) as lanes:
        tables["lake.film"] = 1
        ended = [lanes.submit(table.write, _change(first))]
        assert first.has_begun.wait(10)
        tables["lake.language"] = 1
        second.may_end.set()
        ended.append(lanes.submit(table.write, _change(second)))
        second.has_begun.wait(0.5)  # it has its turn after the first
        first.may_end.set()
        for each in ended:
            each.result(10)

    assert results[-1] == {"lake.film": 1, "lake.language": 1}


def test_a_query_waits_for_the_first_records_of_each_of_its_tables(table: RefinedTable) -> None:
    tables, results = {"lake.film": 1}, list[dict[str, int]]()
    spark = _Spark(tables, results)
    spark.may_end.set()

    table.write(_change(spark))
    assert results == []
    tables["lake.language"] = 1
    table.write(_change(spark))

    assert results == [tables]
