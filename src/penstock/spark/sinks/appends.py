"""The interface of a sink whose rows can be written in one job with those of other tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pyspark.sql import DataFrame

from penstock.spark.sinks.base import Part, Sink


@dataclass(frozen=True, slots=True)
class AppendPlan:
    """How the rows of a table are written by any number of jobs.

    Attributes:
        columns: the SQL of each column of its files, in their order.
        files: Spark's factory of the writers of its files (a `DataWriterFactory` of the JVM).
        made_for: the state of the table that the plan was made for, as its sink compares it.
    """

    columns: Sequence[str]
    files: Any
    made_for: Any = None


class AppendSink(Sink, Protocol):
    """A sink whose files a job writes, and which the driver commits afterwards."""

    def plan(self, rows: DataFrame) -> AppendPlan | None:
        """Prepare for rows of this type; return None if they need a query of their own."""

    def append(self, plan: AppendPlan, part: Part, messages: Any) -> bool:
        """Commit the files of a part, unless the part is there already.

        Returns:
            True if the part is there now. False if the table has changed since the plan was made:
            then a query of their own must write the rows.
        """
