"""A table whose rows are written in one job with those of other tables."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from penstock.errors import Reason
from penstock.registry import SchemaVersion
from penstock.spark.decoding.decoder import Decoder
from penstock.spark.decoding.frames import RowStatus
from penstock.spark.decoding.table_pass import plan_rows, start_rows
from penstock.spark.filter_counts import FilterCounts
from penstock.spark.query.parts import MARKED_SECONDS, changed
from penstock.spark.rows import Fence, while_held
from penstock.spark.sinks.appends import AppendPlan, AppendSink
from penstock.spark.sinks.base import Part
from penstock.spark.sinks.table import Table

_IS_ROW: Final = f"status = '{RowStatus.DECODED}'"


@dataclass(frozen=True, slots=True)
class TablePlan:
    """How the frames of a table are decoded and its rows made, in any number of jobs.

    Attributes:
        decoder: decodes the frames of all versions.
        rows: the plan that makes the rows of its files of frames and their records.
        append: its files; None if its rows need a query of their own, and are counted only.
    """

    decoder: Decoder
    rows: Any
    append: AppendPlan | None

    @property
    def files(self) -> Any:
        """Return the factory of the writers of files."""
        return self.append.files if self.append else None


class AppendTable:
    """Plans the rows of a table under the merge of its versions, and commits its files."""

    def __init__(self, table: Table, lease: Fence) -> None:
        self._columns = table.columns
        self._sink = cast("AppendSink", table.sinks[0])
        self._lease = lease
        self._plan: TablePlan | None = None
        self._marked_until = 0.0  # a part without rows needs no marker

    @property
    def needs_marker(self) -> bool:
        """Return whether a part without rows would commit a marker."""
        return time.monotonic() >= self._marked_until

    def plan(self, frames: DataFrame, versions: Sequence[SchemaVersion]) -> TablePlan:
        """Return the plan for frames of these versions, all that the table has."""
        if self._plan is None or self._plan.decoder.versions != tuple(versions):
            decoder = Decoder(frames.sparkSession, versions, self._columns)
            # The places of these columns are those that TableTask.java joins.
            start = start_rows(decoder.decode(frames).select(*frames.columns, "record"))
            rows = decoder.project(start, F.expr(decoder.is_empty))
            append = self._sink.plan(rows)
            plan = plan_rows(rows, append.columns if append else [])
            self._plan = TablePlan(decoder, plan, append)
        return self._plan

    def commit(self, plan: TablePlan, part: Part, rows: int, messages: Any) -> bool:
        """Commit the files of a part with so many rows; return False if these need a query.

        Raises:
            CheckpointInUseError: another job has taken the lease.
        """
        if not rows and not self.needs_marker:
            return True
        if plan.append is None:
            return False
        with while_held(self._lease):
            is_done = self._sink.append(plan.append, part, messages)
        if is_done:
            self._mark(rows)
        else:
            self._plan = None
        return is_done

    def write(
        self, plan: TablePlan, part: Part, rows: int, frames: DataFrame
    ) -> Mapping[Reason, int]:
        """Write the rows of a part by a query of their own, which reads the frames again.

        Returns:
            The records that are rejected.

        Raises:
            CheckpointInUseError: another job has taken the lease.
            LostRecordsError: Kafka deleted records of the part while it was written.
        """
        decoded = plan.decoder.decode(frames)
        counted = FilterCounts({"rows": _IS_ROW})
        with counted.watch(decoded):
            own = plan.decoder.project(counted.filter(decoded))
            with while_held(self._lease):
                refused = self._sink.write(own, part)
            passed = counted.wait()
        if passed and passed["rows"] != rows:
            raise changed(part.batch, rows, passed["rows"])
        self._mark(rows)
        return refused

    def _mark(self, rows: int) -> None:
        self._marked_until = 0.0 if rows else time.monotonic() + MARKED_SECONDS
