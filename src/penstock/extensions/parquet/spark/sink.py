"""Write rows to plain Parquet files, for readers that do not support Iceberg.

A part is a folder, `PATH/query=QUERY/batch=NUMBER/part=PART`, with a folder `day=DAY` for each day
of its events (docs/adr/0015-markers-in-tables.md). It is written once, as
`penstock.spark.state.folders` says; one with a partition in the Glue table is complete too. A
reader of the table sees complete parts only; a reader that lists files before the batch is over
sees some of them.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import compress
from typing import ClassVar, Final, Self

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
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
from penstock.spark.state.files import COMPLETE, StateFiles
from penstock.spark.state.folders import check_offsets, complete_folder
from penstock.tables import COORDINATES, EVENT_TIME, BatchId

_LOG = logging.getLogger(__name__)

_CATALOG: Final = re.compile(r"[a-z0-9_{}]+\.[a-z0-9_{}]+")
_EVENT_TIME: Final = EventTime()
_DAY: Final = "day"
_DAYS_AT_ONCE: Final = 100  # Glue takes an expression of 2,048 characters
_EVER: Final = 10_000_000  # days
_LISTED_AT_ONCE: Final = 16
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
            CheckpointError: the part is complete with other offsets.
        """
        place = _Place(part.batch.query, part.batch.number, part.number)
        files = self._files(rows.sparkSession, place)
        columns = self._grow(event_type(rows))
        name = self._table.name if self._table else self.path
        if self._is_complete(rows.sparkSession, place):
            check_offsets(files, part.batch)
            _LOG.info("%s is complete already", files.folder)
            dead_letters = store_inexact(rows, columns, name, self._errors)
        else:
            write = partial(self._write_rows, files=files, batch=part.batch, columns=columns)
            dead_letters = write_exact(rows, columns, name, self._errors, write)
        self._add_partitions(rows.sparkSession, place)
        return dead_letters

    def replay(self, rows: DataFrame, part: Part) -> Mapping[Reason, int]:
        """Write rows of a replay to a folder that no other query has."""
        batch = BatchId(f"{_REPLAY}{part.batch.query}", part.batch.number)
        return self.write(rows, replace(part, batch=batch))

    def finish_replays(self, spark: SparkSession) -> None:
        """Finish the parts of killed replays, which have another name when they run again.

        Complete parts get their partitions, unless they have them. Other parts are deleted; a later
        replay writes them.
        """
        condition = f"query LIKE '{_REPLAY}%'"
        done = (self._table and self._table.find_partitions(condition)) or {}
        for place in self._find_replayed(spark):
            partitions = self._find_partitions(spark, place).keys() if done else set()
            if partitions and partitions <= done.keys():
                continue
            if self._is_complete(spark, place):
                self._add_partitions(spark, place)
            else:
                self._files(spark, place).delete_all()

    def find_days(self, rows: DataFrame) -> list[str]:
        """Return the days that earlier rows of the same records may have.

        They are those of the events' times and of Kafka's timestamps: which of the two a row has
        depends on `days_before`, which may have been another one.
        """
        time = replace(self._event_time, days_before=_EVER).write(event_type(rows))
        days = ", ".join(
            f"CAST(CAST({each} AS DATE) AS STRING)" for each in (time, "_kafka_timestamp")
        )
        found = rows.selectExpr(f"EXPLODE(ARRAY({days})) AS {_DAY}").distinct()
        return sorted(row[_DAY] for row in found.collect())

    def find_folders(self, days: Sequence[str]) -> list[str] | None:
        """Return the folders of some days that the Glue table has; None if Glue cannot tell."""
        if self._table is None:
            return None
        folders: list[str] = []
        for first in range(0, len(days), _DAYS_AT_ONCE):
            some = ", ".join(f"'{day}'" for day in days[first : first + _DAYS_AT_ONCE])
            found = self._table.find_partitions(f"{_DAY} IN ({some})")
            if found is None:
                name = self._table.name
                _LOG.warning("Glue compares no days of %s: all of %s is listed", name, self.path)
                return None
            folders += found.values()
        return folders

    def _write_rows(
        self, rows: DataFrame, files: StateFiles, batch: BatchId, columns: StructType
    ) -> None:
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
            writer.parquet(files.folder)
        finally:
            session.conf.set(name, str(before))
        complete_folder(files, batch)

    def _grow(self, event: StructType) -> StructType:
        """Return the columns of files that hold the event's fields, and those of the table."""
        if self._table is None:
            return hold_event(StructType(), event)
        name = self._table.name
        columns = self._table.grow(lambda found: grow_columns(name, found, event))
        return read_file_columns(columns, event)

    def _is_complete(self, spark: SparkSession, place: _Place) -> bool:
        names = self._files(spark, place).names()
        if COMPLETE in names or not names or self._table is None:
            return COMPLETE in names
        # Somebody deleted the mark.
        return self._table.has_partition(place.condition)

    def _add_partitions(self, spark: SparkSession, place: _Place) -> None:
        if self._table is not None:
            self._table.add_partitions(self._find_partitions(spark, place))

    def _find_partitions(self, spark: SparkSession, place: _Place) -> dict[tuple[str, ...], str]:
        """Return the partitions of the files of a part: their locations, by values of the keys."""
        base = (place.query, str(place.batch), str(place.part))
        return {
            (*base, name.removeprefix(f"{_DAY}=")): f"{self.path}/{place.folder}/{name}/"
            for name in self._files(spark, place).names()
            if name.startswith(f"{_DAY}=")
        }

    def _find_replayed(self, spark: SparkSession) -> Iterator[_Place]:
        pattern = f"query={_REPLAY}*/batch=*/part=*"
        return map(_Place.of_folder, StateFiles(spark, self.path).find(pattern))

    def _files(self, spark: SparkSession, place: _Place) -> StateFiles:
        return StateFiles(spark, f"{self.path}/{place.folder}")


@dataclass(slots=True)
class ReplayedFiles(Sink):
    """A folder of Parquet files that skips rows it has already, for one replay.

    It opens only the files of days that earlier rows may have. Those of a Glue table are its
    partitions; else all files are listed, once.
    """

    spark: SparkSession
    files: ParquetFiles
    _are_finished: bool = False  # the parts of earlier replays
    _listed: DataFrame | None = None  # the files that were there before this replay

    def write(self, rows: DataFrame, part: Part) -> Mapping[Reason, int]:
        """Write the rows that are missing to a folder of their own."""
        if not self._are_finished:
            self.files.finish_replays(self.spark)
            self._are_finished = True
        days = self.files.find_days(rows)
        folders = self.files.find_folders(days)
        if folders is None:
            found = self._list_places(days, part)
        else:
            found = _read_places(self.spark, folders)
        missing = drop_present(rows, found)
        return {} if missing.isEmpty() else self.files.replay(missing, part)

    def _list_places(self, days: Sequence[str], part: Part) -> DataFrame:
        """Return the places of the records of days, in earlier files and in those of this replay.

        A replay may select a record twice: each stage that gave it up has a row.
        """
        path = self.files.path
        if self._listed is None:
            self._listed = _read_places(self.spark, [path])
        own = _read_places(self.spark, [f"{path}/query={_REPLAY}{part.batch.query}"])
        # Spark opens only the files that this leaves.
        return self._listed.union(own).filter(F.col(_DAY).isin(days))


def _read_places(spark: SparkSession, folders: Sequence[str]) -> DataFrame:
    """Return the places and days of the records in folders of files, which may not exist."""
    columns = ", ".join(f"{name} {COORDINATES[name]}" for name in _KEY)
    # A part that was cut off is written again, and its files go.
    options = {"recursiveFileLookup": "true", "ignoreMissingFiles": "true"}
    reader = spark.read.schema(columns).options(**options)
    try:
        found = reader.parquet(*folders) if folders else None
    except AnalysisException as error:
        if error.getCondition() != "PATH_NOT_FOUND":
            raise
        with ThreadPoolExecutor(_LISTED_AT_ONCE) as pool:
            is_there = list(pool.map(lambda each: bool(StateFiles(spark, each).names()), folders))
        there = list(compress(folders, is_there))
        found = reader.parquet(*there) if there else None
    if found is None:
        return spark.createDataFrame([], f"{columns}, {_DAY} string")
    day = F.regexp_extract("_metadata.file_path", f"/{_DAY}=([^/]*)/[^/]*$", 1)
    return found.select(*_KEY, day.alias(_DAY))


def _open(settings: ParquetSettings, context: SinkContext) -> ParquetFiles:
    path, table = settings.parquet_path, settings.parquet_table
    return ParquetFiles(path, context.event_time, table, context.errors)


def _open_replayed(settings: ParquetSettings, context: SinkContext) -> ReplayedFiles:
    return ReplayedFiles(context.spark, _open(settings, context))


PARQUET = SinkKind("parquet", ParquetSettings, _open, _open_replayed)
