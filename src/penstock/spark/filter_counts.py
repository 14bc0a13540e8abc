"""Counts of the rows that pass filters, from Spark's own metrics of the filters.

An observation between two steps of a plan ends the compiled stage, and each row is copied there.
A filter counts its rows inside the stage. So a figure is the difference of two filters, whose
conditions contain a number by which they are found in the plan that ran
(docs/adr/0013-counted-passes.md). The plan is read in Java, where it is: each step of a walk from
here would be a call of the JVM, and they cost more than a small pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession

from penstock.spark.decoding.jar import load_jar

# Always true. Spark neither removes, moves nor merges a filter whose condition is not
# deterministic. As text, the number is no part of the generated code, which Spark keeps compiled.
# Text that is compared with a column could be removed: another condition may fix the column.
_MARK: Final = (
    "(spark_partition_id() >= 0 OR CAST(spark_partition_id() AS STRING) = 'filter {}.{}')"
)
_NUMBERS: Final = count(1)
# Spark reports a query a moment after its last task.
_REPORTED_MS: Final = 2_000
_CLASS: Final = "penstock.spark.FilterCounts"


class FilterCounts:
    """Filters rows step by step, and knows the rows that passed each step once a query has run.

    The first query over the rows counts. Rows that run as an RDD are reported by `report`.

    Args:
        conditions: the SQL of each step, by its name.
    """

    def __init__(self, conditions: Mapping[str, str]) -> None:
        self._number = next(_NUMBERS)
        self._steps = dict(conditions)
        self._watched: Any = None

    def filter(self, rows: DataFrame) -> DataFrame:
        """Filter rows by all conditions, in this order."""
        session = rows.sparkSession
        load_jar(session)
        conditions = "\n".join(
            f"({' '.join(sql.split())}) AND {_MARK.format(self._number, at)}"
            for at, sql in enumerate(self._steps.values())
        )
        return DataFrame(_find_class(session).filter(rows._jdf, conditions), session)

    @contextmanager
    def watch(self, rows: DataFrame) -> Iterator[None]:
        """Take the counts of queries in the session of these rows."""
        session = rows.sparkSession
        load_jar(session)
        watch = _find_class(session).watch
        self._watched = watch(session._jsparkSession, self._number, len(self._steps))
        try:
            yield
        finally:
            self._watched.close()

    def wait(self) -> Mapping[str, int]:
        """Return the rows that passed each step; none if no query is reported in time."""
        found = map(int, self._watched.waitFor(_REPORTED_MS).split())
        return dict(zip(self._steps, found, strict=False))


def report(rows: DataFrame) -> None:
    """Take the counts of rows that ran as an RDD: Spark reports only queries."""
    session = rows.sparkSession
    load_jar(session)
    _find_class(session).report(rows._jdf.queryExecution())


def _find_class(session: SparkSession) -> Any:
    jvm: Any = session._jvm
    return getattr(jvm, _CLASS)
