"""Counts of the rows that pass filters, from Spark's own metrics of the filters.

An observation between two steps of a plan ends the compiled stage, and each row is copied there.
A filter counts its rows inside the stage. So a figure is the difference of two filters, whose
conditions contain a number by which they are found in the plan that ran
(docs/adr/0013-counted-passes.md).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from typing import Any, Final

from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import DataFrame

from penstock.attempts import Attempts

# Always true. Spark neither removes, moves nor merges a filter whose condition is not
# deterministic. As text, the number is no part of the generated code, which Spark keeps compiled.
# Text that is compared with a column could be removed: another condition may fix the column.
_MARK: Final = "(spark_partition_id() >= 0 OR CAST(spark_partition_id() AS STRING) = 'filter {}')"
_MARKED: Final = re.compile(r" = filter (\d+)\)")
_NUMBERS: Final = count(1)
_LISTENED: Final[set[str]] = set()  # sessions
# Spark reports a query a moment after its last task.
_REPORTED: Final = Attempts(0.01, 0.1, 2)
# The plan of these nodes is not among their children.
_INNER: Final[Mapping[str, Callable[[Any], Any]]] = {
    "AdaptiveSparkPlan": lambda node: node.executedPlan(),
    "InMemoryTableScan": lambda node: node.relation().cachedPlan(),
    "QueryStage": lambda node: node.plan(),
}


class FilterCounts:
    """Filters rows step by step, and knows the rows that passed each step once a query has run.

    The first query over the rows counts. Rows that run as an RDD are reported by `report`.

    Args:
        conditions: the SQL of each step, by its name.
    """

    _watching: Final[set[FilterCounts]] = set()

    def __init__(self, conditions: Mapping[str, str]) -> None:
        self._steps = {name: (next(_NUMBERS), sql) for name, sql in conditions.items()}
        self._found: dict[str, int] = {}

    def filter(self, rows: DataFrame) -> DataFrame:
        """Filter rows by all conditions, in this order."""
        for number, sql in self._steps.values():
            rows = rows.filter(f"{sql} AND {_MARK.format(number)}")
        return rows

    @contextmanager
    def watch(self, rows: DataFrame) -> Iterator[None]:
        """Take the counts of queries in the session of these rows."""
        _listen(rows)
        self._watching.add(self)
        try:
            yield
        finally:
            self._watching.discard(self)

    def wait(self) -> Mapping[str, int]:
        """Return the rows that passed each step; none if no query is reported in time."""
        any(self._found for _ in _REPORTED)
        return self._found

    @classmethod
    def report(cls, execution: Any) -> None:
        """Take the counts of a query execution of Spark's."""
        if not cls._watching:
            return
        counts = _read_counts(execution.executedPlan())
        for each in tuple(cls._watching):
            found = {name: counts.get(number) for name, (number, _) in each._steps.items()}
            if not each._found and None not in found.values():
                each._found = {name: rows for name, rows in found.items() if rows is not None}


def _listen(rows: DataFrame) -> None:
    """Listen to the session of these rows, once: Spark would not know a listener to remove it."""
    session: Any = rows.sparkSession._jsparkSession
    if session.sessionUUID() not in _LISTENED:
        context: Any = rows.sparkSession.sparkContext
        start_callbacks: Any = ensure_callback_server_started
        start_callbacks(context._gateway)
        session.listenerManager().register(_Listener())
        _LISTENED.add(session.sessionUUID())


class _Listener:
    """Receives the executions of a session from the JVM; names and arguments are Spark's."""

    def onSuccess(self, name: str, execution: Any, nanoseconds: int) -> None:
        FilterCounts.report(execution)

    def onFailure(self, name: str, execution: Any, error: Any) -> None:
        """Do nothing; the caller gets the error."""

    class Java:
        implements = ("org.apache.spark.sql.util.QueryExecutionListener",)


def _read_counts(plan: Any) -> dict[int, int]:
    """Return the rows that passed the marked filters of a plan, by their numbers."""
    return {
        int(marked[1]): int(node.metrics().apply("numOutputRows").value())
        for node in _nodes(plan)
        if node.nodeName() == "Filter"
        for marked in [_MARKED.search(node.condition().toString())]
        if marked
    }


def _nodes(plan: Any) -> Iterator[Any]:
    yield plan
    name = plan.getClass().getSimpleName()
    for part, inner in _INNER.items():
        if part in name:
            yield from _nodes(inner(plan))
    children = plan.children()
    for at in range(children.size()):
        yield from _nodes(children.apply(at))
