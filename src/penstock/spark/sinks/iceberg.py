"""Rows in an Iceberg table exactly once, with columns that grow with the events."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from threading import Lock
from typing import Any, ClassVar, Final
from uuid import uuid4

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from penstock.consuming import ErrorSink
from penstock.errors import CheckpointInUseError, Reason, SettingsError
from penstock.settings import setting
from penstock.spark.failures import LoggedErrors
from penstock.spark.lake.conversion import EventTime, find_inexact, project_event, quote, write_type
from penstock.spark.lake.creation import BOUNDED_METADATA, create_table
from penstock.spark.lake.expiration import DEFAULT_AGE_MS, HOUR_MS, MAX_AGE, Expiration
from penstock.spark.lake.iceberg import (
    LAKE_CATALOG,
    WRITER_CATALOG,
    IcebergTable,
    qualify_table,
    register_writer_catalog,
)
from penstock.spark.lake.inexact import store_inexact, write_exact
from penstock.spark.lake.replay import drop_present, write_key
from penstock.spark.lake.widening import grow_table, refill_columns
from penstock.spark.rows import Fence, event_type
from penstock.spark.sinks.appends import AppendPlan, AppendSink
from penstock.spark.sinks.base import Capabilities, KindSettings, Part, Sink, SinkContext, SinkKind
from penstock.tables import (
    COORDINATES,
    EVENT_TIME,
    LEAST_KEPT_HOURS,
    Marker,
    WriterRecord,
    is_written,
    list_writers,
)

_LOG = logging.getLogger(__name__)

# Stages an append under a WAP id, with a summary of its snapshot.
_Stage = Callable[[str, Mapping[str, str]], None]

_EVENT_TIME: Final = EventTime()
# Properties with the age at which Iceberg and Athena expire snapshots, and their units per hour.
_KEPT: Final = {
    MAX_AGE: HOUR_MS,
    "vacuum_max_snapshot_age_seconds": 3_600,
}
_WAP_ENABLED: Final = "write.wap.enabled"
_COMPRESSION: Final = "write.metadata.compression-codec"
_WAP_ID: Final = "spark.wap.id"
_ONE_AT_ONCE: Final = Lock()  # Iceberg takes the id from the session, in which tables commit files
_ATTEMPT: Final = "penstock.attempt"
_FENCE: Final = "penstock.fence"
_PROPERTIES: Final = {
    "commit.retry.num-retries": "10",
    "format-version": "2",
    MAX_AGE: str(DEFAULT_AGE_MS),
    # Lets an append be staged, and published if nobody has published the same (`Lake._publish`).
    _WAP_ENABLED: "true",
    # By day, all rows of a batch would go to one task. A task has a file open for each day instead,
    # and `EventTime` limits the days.
    "write.distribution-mode": "none",
    "write.update.isolation-level": "snapshot",
}


@dataclass(frozen=True, slots=True)
class LakeSettings(KindSettings):
    """The Iceberg table of a job."""

    NAMES: ClassVar = ("lake_table",)

    lake_table: str = setting(
        "PENSTOCK_LAKE_TABLE", "Iceberg table for the rows, as DATABASE.TABLE", default=""
    )

    def problems(self) -> Iterator[str]:
        """Yield a problem if the table is not named by its database and its name."""
        if self.lake_table and not re.fullmatch(r"[\w{}]+\.[\w{}]+", self.lake_table):
            expected = "DATABASE.TABLE in letters, digits and _"
            yield f"--lake-table is {self.lake_table!r}, expected {expected}"


@dataclass(frozen=True, slots=True)
class _MadeFor:
    """The session, the columns and the partition spec of the table that a plan was made for."""

    session: SparkSession
    columns: StructType
    spec_id: int


class Lake(AppendSink):
    """An Iceberg table that keeps every event, partitioned by the day of its time.

    A batch that the table has is known by its marker (`penstock.tables.markers`) and is not written
    again. The first batch creates the table if it is missing.

    Args:
        spark: a session with the catalog of the table.
        table: its name, as DATABASE.TABLE.
        event_time: the time of an event, whose day its row belongs to.
        fence: checked between an append and its publication.
        errors: a sink for records that the table cannot hold exactly; without it they are logged.
        catalog: the catalog by which rows are written; see `register_writer_catalog`.
    """

    def __init__(  # noqa: PLR0913 - what a table needs of its job
        self,
        spark: SparkSession,
        table: str,
        event_time: EventTime = _EVENT_TIME,
        fence: Fence | None = None,
        errors: ErrorSink | None = None,
        *,
        catalog: str = LAKE_CATALOG,
    ) -> None:
        self._fence = fence
        self._expiration = Expiration()
        self._errors = errors or LoggedErrors()
        self._spark = spark
        self._name, self._written_as = qualify_table(table), qualify_table(table, catalog)
        self._event_time = event_time
        self._table: IcebergTable | None = None
        self._session: Any = None

    @property
    def capabilities(self) -> Capabilities:
        """Say that a job may write the rows of the table with those of others."""
        return Capabilities(shares_job=True)

    def write(self, rows: DataFrame, part: Part) -> Mapping[Reason, int]:
        """Append the rows of a part of a batch, unless the table has it.

        If another query made a column a double, whole numbers that it would round are dead letters.

        Raises:
            LostRecordsError: Kafka deleted such records before they were dead letters.
            LakeHistoryError: the history is incomplete, or disagrees with the checkpoint; nothing
                is written.
            SchemaConflictError: a column cannot hold a field of the records; nothing is written.
            CheckpointInUseError: another job wrote the part meanwhile; nothing is written.
            SinkUnavailableError: other commits came first; write the part again.
        """
        table = self._open(rows.sparkSession)
        if self._has(table, part):
            # The driver may have ended between the append and the dead letters.
            return self._file_inexact(table, rows)
        return self._append(table, rows, Marker.of(part.batch, part.number))

    def _has(self, table: IcebergTable, part: Part) -> bool:
        """Return whether the table has a part; record the query before its first one."""
        batch, number = part.batch, part.number
        record = list_writers(table.properties()).get(batch.query)
        if is_written(self._name, table.commits(), record, batch, number):
            _LOG.info("%s has part %d of batch %d already", self._name, number, batch.number)
            # The driver may have ended, or met other commits, between the append and this.
            refill_columns(self._spark, table)
            return True
        if record is None:
            # Before the first append: without a record, the table has no rows of this query.
            record = WriterRecord(batch.number, number, table.sequence(), batch.digest)
            table.set_properties({WriterRecord.property_of(batch.query): record.to_property()})
        return False

    def plan(self, rows: DataFrame) -> AppendPlan | None:
        """Make the columns that such rows need; return how a job writes the files of the table.

        Returns:
            None if rows must be checked one by one, or the table's files need an order of rows.
        """
        table = self._open(rows.sparkSession)
        grow_table(self._spark, table, event_type(rows))
        columns = table.schema()
        if find_inexact(event_type(rows), columns):
            return None
        files = table.open_files(columns)
        if files is None:
            return None
        values = self._project(columns, event_type(rows))
        ordered = [
            f"{values.get(each.name, f'CAST(NULL AS {write_type(each.dataType)})')}"
            f" AS {quote(each.name)}"
            for each in columns
        ]
        made_for = _MadeFor(rows.sparkSession, columns, table.spec_id())
        return AppendPlan(ordered, files, made_for)

    def append(self, plan: AppendPlan, part: Part, messages: Any) -> bool:
        """Commit files of a part of a batch, unless the table has it.

        Files that are not committed are removed by `jobs/maintain_lake.py`.

        Raises:
            LakeHistoryError: the history is incomplete, or disagrees with the checkpoint.
            CheckpointInUseError: another job wrote the part meanwhile; nothing is written.
        """
        session = plan.made_for.session
        table = self._open(session)
        if self._has(table, part):
            return True
        if _MadeFor(session, table.schema(), table.spec_id()) != plan.made_for:
            return False
        stage = partial(self._stage_files, session, table, messages)
        self._publish(table, stage, Marker.of(part.batch, part.number))
        return True

    def read(self) -> DataFrame:
        """Return the rows of the table."""
        return self._spark.table(self._open(self._spark).name)

    def add(self, rows: DataFrame, name: str) -> Mapping[Reason, int]:
        """Append rows that belong to no batch, under a name that is published once.

        Nothing is published if the table can hold none of the rows.

        Raises:
            SchemaConflictError: a column cannot hold a field of the records; nothing is written.
            CheckpointInUseError: rows of this name were published; nothing is written.
        """
        return self._append(self._open(rows.sparkSession), rows, name)

    def _append(
        self, table: IcebergTable, rows: DataFrame, marker: Marker | str
    ) -> Mapping[Reason, int]:
        """Append the rows that the table can hold, and file the others as dead letters."""
        grow_table(self._spark, table, event_type(rows))
        columns = table.schema()
        inexact = find_inexact(event_type(rows), columns)
        if isinstance(marker, str) and inexact:
            exact = rows.filter(~F.expr(" OR ".join(inexact.values())))
            if exact.isEmpty():
                # The name must stay free: without new rows, the next replay has the same one.
                return self._file_inexact(table, rows)

        def write(rows: DataFrame) -> None:
            self._publish(table, partial(self._stage, table, rows), marker)

        return write_exact(rows, columns, self._name, self._errors, write)

    def _file_inexact(self, table: IcebergTable, rows: DataFrame) -> Mapping[Reason, int]:
        return store_inexact(rows, table.schema(), self._name, self._errors)

    def _publish(self, table: IcebergTable, stage: _Stage, marker: Marker | str) -> None:
        """Stage an append, then publish it.

        A driver may stall for any time in the append while another takes over. Iceberg looks for
        the id in the same commit that publishes (docs/adr/0014-lease-and-fence.md).
        """
        given = table.properties()
        wanted = {_COMPRESSION: BOUNDED_METADATA[_COMPRESSION], **given, _WAP_ENABLED: "true"}
        if wanted != given:
            table.set_properties(dict(wanted.items() - given.items()))
        attempt = uuid4().hex
        fence = {} if self._fence is None else {_FENCE: str(self._fence.fence)}
        summary = {} if isinstance(marker, str) else marker.to_summary()
        columns = table.schema()
        wap_id = f"penstock.rows/{marker}" if isinstance(marker, str) else marker.wap_id
        stage(wap_id, {**summary, **fence, _ATTEMPT: attempt})
        if self._fence is not None:
            self._fence.check()
        if not table.publish(_ATTEMPT, attempt):
            raise CheckpointInUseError(
                f"another job wrote {marker} to {self._name} meanwhile; it is there once,"
                " and nothing more is written"
            )
        if table.schema() != columns:
            # Another query may have widened a column after these rows were staged.
            refill_columns(self._spark, table)
        self._expiration.expire(table)

    def _stage(
        self, table: IcebergTable, rows: DataFrame, wap_id: str, summary: Mapping[str, str]
    ) -> None:
        """Write rows and stage their files."""
        values = self._project(table.schema(), event_type(rows))
        columns = (f"{value} AS {quote(name)}" for name, value in values.items())
        writer = rows.selectExpr(*columns).writeTo(self._written_as)
        for name, text in _write_options(summary).items():
            writer = writer.option(name, text)
        with _wap_id(rows.sparkSession, wap_id):
            writer.append()

    def _stage_files(
        self,
        session: SparkSession,
        table: IcebergTable,
        messages: Any,
        wap_id: str,
        summary: Mapping[str, str],
    ) -> None:
        """Stage files that are written."""
        with _ONE_AT_ONCE, _wap_id(session, wap_id):
            write = table.open_write(table.schema(), _write_options(summary))
        write.toBatch().commit(messages)

    def _open(self, session: SparkSession) -> IcebergTable:
        """Load the table as the session writes it, or refresh it; create it if it is missing."""
        if self._table is not None and session._jsparkSession == self._session:
            self._table.refresh()
            self._table.check_time()
            return self._table
        types = {EVENT_TIME: "timestamp", **COORDINATES}
        columns = ", ".join(f"{name} {type_}" for name, type_ in types.items())
        create_table(self._spark, self._name, columns, _PROPERTIES, f"days({EVENT_TIME})")
        table = IcebergTable(session, self._name, self._written_as)
        _check_table(table)
        table.check_time()
        # Each session has catalogs of its own, and so another object of the table.
        self._table, self._session = table, session._jsparkSession
        return table

    def _project(self, columns: StructType, event: StructType) -> dict[str, str]:
        """Return the value of each column by its name; columns that are not named stay null."""
        own = {EVENT_TIME: self._event_time.write(event)} | {each: each for each in COORDINATES}
        return own | project_event(event, columns)


def _write_options(summary: Mapping[str, str]) -> dict[str, str]:
    return {f"snapshot-property.{name}": text for name, text in summary.items()}


@contextmanager
def _wap_id(session: SparkSession, wap_id: str) -> Iterator[None]:
    """Let the writes that begin in a session stage an append under an id."""
    session.conf.set(_WAP_ID, wap_id)
    try:
        yield
    finally:
        session.conf.unset(_WAP_ID)


def _check_table(table: IcebergTable) -> None:
    """Reject a table whose history could not tell which batches it has."""
    properties = table.properties()
    problems = [
        f"{table.name} keeps snapshots for {int(properties[name]) / unit:g} h ({name}), expected "
        f"{LEAST_KEPT_HOURS} h or more: they say which batches it has"
        for name, unit in _KEPT.items()
        if name in properties and int(properties[name]) < LEAST_KEPT_HOURS * unit
    ]
    if table.format_version() < 2:
        problems.append(f"{table.name} is of Iceberg's format 1, expected 2, which counts commits")
    if problems:
        raise SettingsError(problems)


@dataclass(frozen=True, slots=True)
class ReplayedLake(Sink):
    """A lake table that skips rows it has already."""

    lake: Lake

    def write(self, rows: DataFrame, part: Part) -> Mapping[Reason, int]:
        """Append the rows that are missing from the table."""
        missing = drop_present(rows, self.lake.read())
        keys = sorted(row.key for row in missing.select(write_key().alias("key")).collect())
        # The same records have the same name, so only one of two replays publishes them. Rows that
        # the table cannot hold count too, since a column may be widened between the two.
        name = sha256("\n".join(keys).encode()).hexdigest()
        return self.lake.add(missing, name) if keys else {}


def _open(settings: LakeSettings, context: SinkContext) -> Lake:
    register_writer_catalog(context.spark)
    return Lake(
        context.spark,
        settings.lake_table,
        context.event_time,
        context.lease,
        context.errors,
        catalog=WRITER_CATALOG,
    )


def _open_replayed(settings: LakeSettings, context: SinkContext) -> ReplayedLake:
    return ReplayedLake(_open(settings, context))


ICEBERG = SinkKind("iceberg", LakeSettings, _open, _open_replayed)
