"""Write rows to plain Parquet files, for readers that do not support Iceberg.

A part is a folder, `PATH/query=QUERY/batch=NUMBER/part=PART`, with a folder `day=DAY` for each day
of its events (docs/adr/0015-markers-in-tables.md). Once it has Spark's file `_SUCCESS`, or a
partition in the Glue table, it is complete and is not written again: Kafka may have deleted some of
its records meanwhile. A reader of the table sees complete parts only; a reader that lists files
before the batch is over sees some of them.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Final, Self

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from penstock.consuming import ErrorSink
from penstock.errors import Reason
from penstock.extensions.parquet.glue_table import GlueTable
from penstock.extensions.parquet.spark.columns import (
    PARTITION_KEYS,
    grow_columns,
    hold_event,
    read_file_columns,
)
from penstock.settings import setting
from penstock.spark.failures import LoggedErrors
from penstock.spark.lake.conversion import EventTime, project_event, quote
from penstock.spark.lake.inexact import store_inexact, write_exact
from penstock.spark.lake.replay import drop_present
from penstock.spark.rows import event_type
from penstock.spark.sinks.base import KindSettings, Part, Sink, SinkContext, SinkKind
from penstock.spark.state.files import StateFiles
from penstock.tables import COORDINATES, EVENT_TIME, BatchId

_LOG = logging.getLogger(__name__)

_CATALOG: Final = re.compile(r"[a-z0-9_{}]+\.[a-z0-9_{}]+")
_EVENT_TIME: Final = EventTime()
_COMPLETE: Final = "_SUCCESS"
_DAY: Final = "day"
_REPLAY: Final = "replay-"
_KEY: Final = ("_topic", "_kafka_partition", "_offset", "_kafka_timestamp")  # of a record
# Without it, a task sorts its rows by day. `EventTime` limits the days.
_WRITERS: Final = ("spark.sql.maxConcurrentOutputFileWriters", "40")


@dataclass(frozen=True, slots=True)
class _Place:
    """A part of a batch: its folder below that of the files."""

    query: str
    batch: int
    part: int

    @property
    def folder(self) -> str:
        return f"query={self.query}/batch={self.batch}/part={self.part}"

    @property
    def condition(self) -> str:
        """The condition on partition keys that its partitions meet."""
        return f"query = '{self.query}' AND batch = {self.batch} AND part = {self.part}"

    @classmethod
    def of_folder(cls, path: str) -> Self:
        query, batch, part = (each.partition("=")[2] for each in path.split("/")[-3:])
        return cls(query, int(batch), int(part))


@dataclass(frozen=True, slots=True)
class ParquetSettings(KindSettings):
    """The folder of plain files of a job, and their table."""

    NAMES: ClassVar = ("parquet_path", "parquet_table")

    parquet_path: str = setting(
        "PENSTOCK_PARQUET_PATH",
        "folder for rows as plain Parquet files, for readers that do not support Iceberg",
        default="",
    )
    parquet_table: str = setting(
        "PENSTOCK_PARQUET_TABLE",
        "Glue table of the files of --parquet-path, as DATABASE.TABLE; the job creates it and adds"
        " columns and partitions",
        default="",
    )

    def problems(self) -> Iterator[str]:
        """Yield a problem for a Glue table without a database, or whose files are not on S3."""
        table, path = self.parquet_table or "", self.parquet_path or ""
        if table and not _CATALOG.fullmatch(table):
            yield (
                f"--parquet-table is {table!r}, expected DATABASE.TABLE in lower case, digits and _"
            )
        if table and not path.startswith("s3://"):
            yield f"--parquet-path is {path!r}, expected s3://... for --parquet-table"


class ParquetFiles(Sink):
    """A folder of Parquet files with the columns of the lake.

    Args:
        path: the folder.
        event_time: the time of an event, as in the lake.
        table: the name of its Glue table, as DATABASE.TABLE; the first part creates it.
        errors: a sink for records that the table cannot hold exactly; without it they are logged.
    """

    def __init__(
        self,
        path: str,
        event_time: EventTime = _EVENT_TIME,
        table: str = "",
        errors: ErrorSink | None = None,
    ) -> None:
        self.path = path.rstrip("/")
        self._event_time = event_time
        self._table = GlueTable(table, self.path, PARTITION_KEYS) if table else None
        self._errors = errors or LoggedErrors()

    def write(self, rows: DataFrame, part: Part) -> Mapping[Reason, int]:
        """Write the rows of a part of a batch, unless it is complete.

        The part of a driver that ended before it added the partitions gets them now.

        Raises:
            SchemaConflictError: a column of the Glue table cannot hold a field of the records;
                nothing is written.
            LostRecordsError: Kafka deleted records that a column would round, before they were
                dead letters.
        """
        place = _Place(part.batch.query, part.batch.number, part.number)
        columns = self._grow(event_type(rows))
        name = self._table.name if self._table else self.path
        if self._is_complete(rows.sparkSession, place):
            _LOG.info("%s/%s is complete already", self.path, place.folder)
            dead_letters = store_inexact(rows, columns, name, self._errors)
        else:
            write = partial(self._write_rows, place=place, columns=columns)
            dead_letters = write_exact(rows, columns, name, self._errors, write)
        self._add_partitions(rows.sparkSession, place)
        return dead_letters

    def replay(self, rows: DataFrame, part: Part) -> Mapping[Reason, int]:
        """Write rows of a replay to a folder that no other query has."""
        batch = BatchId(f"{_REPLAY}{part.batch.query}", part.batch.number)
        return self.write(rows, replace(part, batch=batch))

    def finish_replays(self, spark: SparkSession) -> None:
        """Finish the parts of killed replays, which have another name when they run again.

        Complete parts get their partitions. Other parts are deleted; a later replay writes them.
        """
        for place in self._find_replayed(spark):
            if self._is_complete(spark, place):
                self._add_partitions(spark, place)
            else:
                self._files(spark, place).delete_all()

    def _write_rows(self, rows: DataFrame, place: _Place, columns: StructType) -> None:
        event = event_type(rows)
        time = self._event_time.write(event)
        values = project_event(event, columns)
        chosen = rows.selectExpr(
            f"{time} AS {EVENT_TIME}",
            *COORDINATES,
            *(f"{value} AS {quote(name)}" for name, value in values.items()),
            f"CAST({time} AS DATE) AS {_DAY}",
        )
        session, (name, text) = rows.sparkSession, _WRITERS
        before = session.conf.get(name)
        session.conf.set(name, text)
        try:
            writer = chosen.write.mode("overwrite").partitionBy(_DAY)
            writer = writer.option("partitionOverwriteMode", "static")  # all of a part that was cut
            writer.parquet(f"{self.path}/{place.folder}")
        finally:
            session.conf.set(name, str(before))
        files = self._files(session, place)
        if _COMPLETE not in files.names():  # Spark may be told not to write it
            files.write(_COMPLETE, "")

    def _grow(self, event: StructType) -> StructType:
        """Return the columns of files that hold the event's fields, and those of the table."""
        if self._table is None:
            return hold_event(StructType(), event)
        name = self._table.name
        columns = self._table.grow(lambda found: grow_columns(name, found, event))
        return read_file_columns(columns, event)

    def _is_complete(self, spark: SparkSession, place: _Place) -> bool:
        names = self._files(spark, place).names()
        if _COMPLETE in names or not names or self._table is None:
            return _COMPLETE in names
        # Somebody deleted the mark.
        return self._table.has_partition(place.condition)

    def _add_partitions(self, spark: SparkSession, place: _Place) -> None:
        if self._table is None:
            return
        folders = [name for name in self._files(spark, place).names() if name != _COMPLETE]
        base = (place.query, str(place.batch), str(place.part))
        self._table.add_partitions(
            {
                (*base, folder.removeprefix(f"{_DAY}=")): f"{self.path}/{place.folder}/{folder}/"
                for folder in folders
                if folder.startswith(f"{_DAY}=")
            }
        )

    def _find_replayed(self, spark: SparkSession) -> Iterator[_Place]:
        pattern = f"query={_REPLAY}*/batch=*/part=*"
        return map(_Place.of_folder, StateFiles(spark, self.path).find(pattern))

    def _files(self, spark: SparkSession, place: _Place) -> StateFiles:
        return StateFiles(spark, f"{self.path}/{place.folder}")


@dataclass(frozen=True, slots=True)
class ReplayedFiles(Sink):
    """A folder of Parquet files that skips rows it has already."""

    spark: SparkSession
    files: ParquetFiles

    def write(self, rows: DataFrame, part: Part) -> Mapping[Reason, int]:
        """Write the rows that are missing to a folder of their own."""
        self.files.finish_replays(self.spark)
        missing = drop_present(rows, _read_places(self.spark, self.files.path))
        return {} if missing.isEmpty() else self.files.replay(missing, part)


def _read_places(spark: SparkSession, path: str) -> DataFrame:
    """Return the places of the records in a folder of files, which may not exist."""
    columns = ", ".join(f"{name} {COORDINATES[name]}" for name in _KEY)
    reader = spark.read.schema(columns).option("recursiveFileLookup", "true")
    try:
        return reader.parquet(path)
    except AnalysisException as error:
        if error.getCondition() != "PATH_NOT_FOUND":
            raise
        return spark.createDataFrame([], columns)


def _open(settings: ParquetSettings, context: SinkContext) -> ParquetFiles:
    path, table = settings.parquet_path, settings.parquet_table
    return ParquetFiles(path, context.event_time, table, context.errors)


def _open_replayed(settings: ParquetSettings, context: SinkContext) -> ReplayedFiles:
    return ReplayedFiles(context.spark, _open(settings, context))


PARQUET = SinkKind("parquet", ParquetSettings, _open, _open_replayed)
