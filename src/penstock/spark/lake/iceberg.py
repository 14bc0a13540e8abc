"""The Iceberg catalog of the lake, and its tables through Iceberg's Java API.

Reading the history of a table takes milliseconds there, and a second in its metadata tables.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final
from uuid import uuid4

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession
from pyspark.sql.types import StructField, StructType

from penstock.attempts import Attempts
from penstock.errors import SinkUnavailableError
from penstock.spark.active_session import set_active
from penstock.spark.columns import to_field, to_type
from penstock.tables import MARKER_KEYS, Commit, Growth, Marker

LAKE_CATALOG: Final = "lake"
WRITER_CATALOG: Final = "penstock_writer"
KNOWN_CATALOG: Final = "penstock_known"

_CONFLICT: Final = ".CommitFailedException"
# Those of a statement for a commit that another one came before.
_CONFLICTS: Final = ("exceptions.ValidationException", f"exceptions{_CONFLICT}")
_MOST_TRIES: Final = 3
_DUPLICATE: Final = ".DuplicateWAPCommitException"
_ANCESTOR: Final = ".CherrypickAncestorCommitException"
_COPIED_FROM: Final = "source-snapshot-id"
_MOST_BEHIND_SECONDS: Final = 60  # of TableMetadata, which refuses a commit that is older
_ATTEMPTS: Final = Attempts(first_seconds=0.1, longest_seconds=2, total_seconds=60, jitter=True)


def catalog_settings() -> dict[str, str]:
    """Return the Spark settings that register the Glue catalog under the name `lake`.

    The location of a table follows from the location of its database.
    """
    properties = {
        "": "org.apache.iceberg.spark.SparkCatalog",
        ".type": "glue",
        ".io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
        # Commits of other writers must be visible immediately.
        ".cache-enabled": "false",
    }
    return {f"spark.sql.catalog.{LAKE_CATALOG}{name}": text for name, text in properties.items()}


def register_writer_catalog(spark: SparkSession) -> None:
    """Register the lake's catalog a second time, for the writers of the queries that start now.

    It loads a table once for Spark and for `IcebergTable`, which refreshes it for both. Whoever
    reads a table by the catalog `lake` sees the commits of others immediately.
    """
    kept = {".cache-enabled": "true", ".cache.expiration-interval-ms": "-1"}
    _register_again(spark, WRITER_CATALOG, kept)


def register_known_catalog(spark: SparkSession) -> None:
    """Register the lake's catalog again, for rows that are cached while their table is written.

    Spark plans cached rows again after a commit to a table that they read by the same catalog.
    """
    _register_again(spark, KNOWN_CATALOG, {})


def _register_again(spark: SparkSession, catalog: str, changes: Mapping[str, str]) -> None:
    lake, again = (f"spark.sql.catalog.{name}" for name in (LAKE_CATALOG, catalog))
    if spark.conf.get(again, ""):
        return  # reading all settings takes a while
    settings = {
        name.removeprefix(lake): text
        for name, text in spark.conf.getAll.items()
        if name == lake or name.startswith(f"{lake}.")
    }
    for name, text in {**settings, **changes}.items():
        spark.conf.set(f"{again}{name}", text)


def qualify_table(table: str, catalog: str = LAKE_CATALOG) -> str:
    """Return a table's name, DATABASE.TABLE, with the catalog in front."""
    return f"{catalog}.{table}"


def run_commit(spark: SparkSession, statement: str, name: str) -> None:
    """Run a statement that commits to a table.

    Raises:
        SinkUnavailableError: another commit changed the same files first.
    """
    try:
        spark.sql(statement)
    except Py4JJavaError as error:
        if any(each in str(error) for each in _CONFLICTS):
            raise SinkUnavailableError(f"another commit to {name} came first") from error
        raise


def repeat_commit(spark: SparkSession, statement: str, table: IcebergTable) -> None:
    """Run a statement that commits to a table, and run it again if other commits come first.

    Raises:
        SinkUnavailableError: other commits came first each time.
    """
    for left in reversed(range(_MOST_TRIES)):
        try:
            run_commit(spark, statement, table.name)
            return
        except SinkUnavailableError:
            if not left:
                raise
        finally:
            table.refresh()


class IcebergTable:
    """The existing table `catalog.database.table`, as of the last `refresh` or commit.

    `loaded_as` is its name in another catalog.
    """

    def __init__(
        self,
        spark: SparkSession,
        name: str,
        loaded_as: str = "",
        *,
        attempts: Attempts = _ATTEMPTS,
    ) -> None:
        self.name = name
        self._spark = spark
        self._attempts = attempts
        context: Any = spark.sparkContext
        # By whole names: for each package in `jvm.org.apache`, py4j would search every jar.
        find = partial(getattr, context._jvm)
        self._convert = find("org.apache.iceberg.spark.SparkSchemaUtil").convert
        self._parse_type = find("org.apache.spark.sql.types.DataType").fromJson
        util = find("org.apache.iceberg.spark.Spark3Util")
        self._table = util.loadIcebergTable(spark._jsparkSession, loaded_as or name)

    def refresh(self) -> None:
        """Load the changes that others made to the table."""
        self._table.refresh()

    def schema(self) -> StructType:
        """Return the columns, with their comments."""
        return StructType.fromJson(json.loads(self._convert(self._table.schema()).json()))

    def field_ids(self, columns: Iterable[str]) -> dict[str, int | None]:
        """Return the ids of columns, by which files have them; None for one that is missing."""
        found = {name: self._table.schema().findField(name) for name in columns}
        return {name: field and int(field.fieldId()) for name, field in found.items()}

    def properties(self) -> dict[str, str]:
        """Return the properties of the table, by name."""
        return dict(self._table.properties())

    def commits(self) -> Iterator[Commit]:
        """Yield the snapshots that are kept, newest first."""
        snapshot = self._table.currentSnapshot()
        while snapshot is not None:
            parent = snapshot.parentId()
            yield Commit(snapshot.sequenceNumber(), parent is None, self._read_marker(snapshot))
            snapshot = None if parent is None else self._table.snapshot(parent)

    def _read_marker(self, snapshot: Any) -> Marker | None:
        """Return the marker of a snapshot; a copy has that of the one that was staged."""
        summary = snapshot.summary()
        if copied_from := summary.get(_COPIED_FROM):
            staged = self._table.snapshot(int(copied_from))
            summary = summary if staged is None else staged.summary()
        found = {key: summary.get(key) for key in MARKER_KEYS}
        return Marker.from_summary({key: text for key, text in found.items() if text is not None})

    def sequence(self) -> int:
        """Return the sequence number of the last commit, 0 before the first."""
        return int(self._table.operations().current().lastSequenceNumber())

    def format_version(self) -> int:
        """Return the version of Iceberg's format."""
        return int(self._table.operations().current().formatVersion())

    def spec_id(self) -> int:
        """Return the id of the partition spec by which new files are written."""
        return int(self._table.spec().specId())

    def count_snapshots(self) -> int:
        """Return the number of snapshots that are kept."""
        return int(self._table.operations().current().snapshots().size())

    def oldest_ms(self) -> int:
        """Return the time of the oldest snapshot, in milliseconds; 0 without any."""
        snapshots = self._table.operations().current().snapshots()
        return int(snapshots.get(0).timestampMillis()) if snapshots.size() else 0

    def expired_ms(self) -> int:
        """Return the time before which snapshots have expired, in milliseconds; 0 if none has."""
        util = getattr(self._spark._jvm, "org.apache.iceberg.util.SnapshotUtil")
        oldest = util.oldestAncestor(self._table)
        whole = oldest is None or oldest.parentId() is None
        return 0 if whole else int(oldest.timestampMillis())

    def count_files(self) -> int:
        """Return the number of data files in the newest snapshot."""
        snapshot = self._table.currentSnapshot()
        return 0 if snapshot is None else int(snapshot.summary().get("total-data-files"))

    def open_write(self, columns: StructType, options: Mapping[str, str] | None = None) -> Any:
        """Return Spark's write of rows with the columns of the table, an object of the JVM."""
        set_active(self._spark)
        find = partial(getattr, self._spark._jvm)
        given = find("org.apache.spark.sql.util.CaseInsensitiveStringMap")(dict(options or {}))
        none = find("java.util.Optional").empty()
        type_ = self._parse_type(columns.json())
        info = find("org.apache.spark.sql.connector.write.LogicalWriteInfoImpl")
        table = find("org.apache.iceberg.spark.source.SparkTable")(self._table)
        made = info(uuid4().hex, type_, given, none, none)
        return table.newWriteBuilder(made).build()

    def open_files(self, columns: StructType) -> Any:
        """Return the factory of the writers of files for rows with the columns of the table.

        It is None if the table wants its rows in an order, or each task to have its own partitions.
        """
        write = self.open_write(columns)
        find = partial(getattr, self._spark._jvm)
        any_ = find("org.apache.spark.sql.connector.distributions.Distributions").unspecified()
        if len(write.requiredOrdering()) or not write.requiredDistribution().equals(any_):
            return None
        tasks = find("org.apache.spark.sql.connector.write.PhysicalWriteInfoImpl")(1)
        return write.toBatch().createBatchWriterFactory(tasks)

    def expire(self, before_ms: int) -> None:
        """Expire snapshots before a time, except the newest, and delete what only they use.

        That is files, and the columns that the table had at each of its changes; to find which of
        these are in use, Iceberg reads a file of each snapshot that is kept.
        """
        metadata = self._table.operations().current()
        has_old = metadata.schemas().size() > 1 or metadata.specs().size() > 1
        expire = self._table.expireSnapshots().expireOlderThan(before_ms)
        expire.cleanExpiredMetadata(has_old).commit()

    def publish(self, key: str, text: str) -> bool:
        """Publish a staged snapshot; return False if another with its WAP id was published.

        A commit whose answer was lost is repeated by Iceberg, which then finds it done.

        Args:
            key: a property in the snapshot's summary.
            text: its value, which no other snapshot has.

        Raises:
            SinkUnavailableError: the staged snapshot has expired.
        """
        staged = self._find_snapshot(key, text)
        if staged is None:  # it was staged by another object of the table
            self._table.refresh()
            staged = self._find_snapshot(key, text)
        if staged is None:
            raise SinkUnavailableError(
                f"rows that were staged for {self.name} expired before they were published;"
                " nothing of them is there, write them again"
            )
        try:
            self._table.manageSnapshots().cherrypick(staged.snapshotId()).commit()
        except Py4JJavaError as error:
            if not error.java_exception.getClass().getName().endswith((_ANCESTOR, _DUPLICATE)):
                raise
            return self._is_published(staged.snapshotId())
        return True

    def _find_snapshot(self, key: str, text: str) -> Any:
        snapshots = self._table.operations().current().snapshots()
        # The newest is last.
        newest_first = map(snapshots.get, range(snapshots.size() - 1, -1, -1))
        return next((each for each in newest_first if each.summary().get(key) == text), None)

    def _is_published(self, snapshot_id: int) -> bool:
        """Return whether a staged snapshot was published: as it is, or as a copy."""
        self._table.refresh()
        if any(entry.snapshotId() == snapshot_id for entry in self._table.history()):
            return True
        snapshots = self._table.operations().current().snapshots()
        copied = (each.summary().get(_COPIED_FROM) for each in snapshots)
        return str(snapshot_id) in copied

    def check_time(self) -> None:
        """Check that a commit of this machine would not be older than the last one.

        Raises:
            SinkUnavailableError: the clock of this machine is behind, or that of another one ahead.
        """
        last_ms: int = self._table.operations().current().lastUpdatedMillis()
        seconds = round(last_ms / 1_000 - time.time())
        if seconds > _MOST_BEHIND_SECONDS:
            raise SinkUnavailableError(
                f"the last commit to {self.name} is {seconds} s later than the time of this "
                f"machine, expected {_MOST_BEHIND_SECONDS} s at most: Iceberg would refuse a "
                "commit; set its clock, or that of the other machine that commits"
            )

    def set_properties(self, properties: Mapping[str, str]) -> None:
        """Set properties of the table in one commit."""
        update = self._table.updateProperties()
        for name, text in properties.items():
            update.set(name, text)
        update.commit()

    def remove_property(self, name: str) -> None:
        """Remove a property of the table, if it has it."""
        self._table.updateProperties().remove(name).commit()

    def grow(self, plan: Callable[[StructType], Growth]) -> Growth:
        """Add and widen columns in one commit, without touching data.

        `plan` returns the changes for the current columns; it is called again after a conflict with
        another commit.
        """
        planned = Growth()

        def change(update: Any) -> None:
            nonlocal planned
            planned = plan(self.schema())
            for new in planned.added:
                type_, comment = self._to_iceberg(to_field(new.column))
                update.addColumn(new.parent, new.column.name, type_, comment)
            for wider in planned.widened:
                wide = StructField("it", to_type(wider.new))
                update.updateColumn(wider.path, self._to_iceberg(wide)[0])

        self._change_schema(change)
        return planned

    def rename(self, names: Mapping[str, str], comments: Mapping[str, str]) -> None:
        """Rename columns and set comments, by old name, in one commit: two can swap names."""

        def change(update: Any) -> None:
            for name, comment in comments.items():
                update.updateColumnDoc(name, comment)
            for old, new in names.items():
                update.renameColumn(old, new)

        self._change_schema(change)

    def drop(self, column: str) -> None:
        """Drop a column."""
        self._change_schema(lambda update: update.deleteColumn(column))

    def _change_schema(self, change: Callable[[Any], object]) -> None:
        """Commit a schema change, with retries; Iceberg itself retries other commits only."""
        for _ in self._attempts:
            update = self._table.updateSchema()
            change(update)
            try:
                update.commit()
            except Py4JJavaError as error:
                if not error.java_exception.getClass().getName().endswith(_CONFLICT):
                    raise
                self.refresh()
            else:
                return
        raise SinkUnavailableError(
            f"the columns of {self.name} could not be changed for "
            f"{self._attempts.total_seconds:g} s: each time other commits came first"
        )

    def _to_iceberg(self, column: StructField) -> tuple[Any, str | None]:
        """Return a column's Iceberg type, and its comment."""
        converted = self._convert(self._parse_type(StructType([column]).json()))
        field = converted.columns().get(0)
        return field.type(), field.doc()
