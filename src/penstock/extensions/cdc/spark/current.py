"""An Iceberg table that is equal to a table of the database.

Its columns are those of the database's table, and

    _lsn          the place of the last change in the database's log
    _offset       the Kafka offset of that change
    _changed_at   when the database made it
    _older_lsn    the places of values that are older: those that the last change did not have

A change is written by one MERGE per batch, of the net change of each row, and only if its position
is later than the row's, or than that of a value that the row's last change does not have
(`penstock.extensions.cdc.spark.long_values`). So a batch that comes again changes nothing. Rows
are deleted and replaced by delete files (merge-on-read): no data file is written again but by
compaction, which the job does for small files once in 20 commits, and `jobs/maintain_lake.py` for
all.

Deleted rows are gone. The table TABLE_deleted has their keys and positions for as long as Kafka
may still have an older change, and is read only if a batch has changes from before its last one
(docs/adr/0049-changes-by-position.md).
"""

# ruff: noqa: S608 - every name in these statements is quoted or our own

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import DateType, NumericType, StringType, StructField, StructType

from penstock.extensions.cdc.spark.items import OLDER
from penstock.extensions.cdc.spark.long_values import LongValue, write_older
from penstock.extensions.cdc.spark.net import KEPT, BatchLog, Moment
from penstock.extensions.cdc.spark.sink import ChangeBatch, named_view
from penstock.spark.columns import match_columns, merge_columns
from penstock.spark.lake.conversion import project_event, quote, quote_text, write_type
from penstock.spark.lake.creation import create_table
from penstock.spark.lake.expiration import Expiration
from penstock.spark.lake.iceberg import (
    LAKE_CATALOG,
    WRITER_CATALOG,
    IcebergTable,
    qualify_table,
    register_writer_catalog,
    run_commit,
)
from penstock.spark.lake.maintenance import write_compaction
from penstock.spark.lake.widening import find_replaced, grow_table

POSITION: Final = {"_lsn": "bigint", "_offset": "bigint", "_changed_at": "TIMESTAMP"}
DELETED: Final = "_deleted"
_COMPACTED_COMMITS: Final = 20
_COMPACTED_BYTES: Final = 128 * 2**20
# Iceberg would else split files that maintenance has made, of more than 1.8 times the size.
_MOST_BYTES: Final = 2**63 - 1
_REMEMBERED_AT: Final = "_remembered_at"
_IS_NEWER: Final = "(s._lsn > t._lsn OR (s._lsn = t._lsn AND s._offset > t._offset))"
_PROPERTIES: Final = {
    "format-version": "2",
    "write.merge.mode": "merge-on-read",
    "write.delete.mode": "merge-on-read",
    "write.update.mode": "merge-on-read",
    "write.distribution-mode": "none",
    "write.merge.distribution-mode": "none",
    "write.delete.distribution-mode": "none",
    "commit.retry.num-retries": "10",
}
_RANGED: Final = (DateType, NumericType, StringType)
_DAY_SECONDS: Final = 86_400


class CurrentTable:
    """An Iceberg table that is equal to a table of the database.

    Args:
        table: its name, as DATABASE.TABLE.
        buckets: the number of buckets by key that a new table has; 0 for none.
        remembered_days: how long the keys of deleted rows are kept.
    """

    def __init__(self, table: str, buckets: int = 0, remembered_days: int = 8) -> None:
        self.name, self._written_as = qualify_table(table), qualify_table(table, WRITER_CATALOG)
        self._buckets = buckets
        self._deletions = Deletions(f"{table}{DELETED}", remembered_days)
        self._expiration = Expiration()
        self._last: int | None = None  # no change has a later place, once it is known

    def write(self, batch: ChangeBatch) -> None:
        """Write net changes; this is idempotent.

        Raises:
            JobError: a column would round a whole number, and nothing is written; or the database
                was restored to an earlier place.
            SchemaConflictError: a column cannot hold a field of the records; nothing is written.
            SinkUnavailableError: other commits came first, or the clock is behind theirs; write the
                batch again.
        """
        spark = batch.spark
        self._deletions.forget(spark)
        if batch.log.truncations and spark.catalog.tableExists(self.name):
            self._open(batch)
            self._delete_before(batch, batch.log.truncations[-1])
        if not batch.log.has_rows:
            return
        create_row_table(spark, self.name, batch, POSITION, self._buckets)
        table = self._open(batch)
        before = table.sequence()
        grow_table(spark, table, batch.changes.type)
        if batch.log.is_unavailable:
            add_older(spark, table)
        key = find_key_columns(table.schema(), batch)
        source = self._deletions.keep(self._project(batch, table.schema()), key, batch.log)
        self._merge(source, batch, table.schema(), key)
        if batch.log.complete is not None:
            batch.check_places(spark.table(self.name), self._deletions.read(spark))
            self._delete_before(batch, batch.log.complete)
        table.refresh()
        compact_new_files(spark, table, before)
        self._expiration.expire(table)

    def _open(self, batch: ChangeBatch) -> IcebergTable:
        table = load_table(batch.spark, self.name, self._written_as)
        batch.check_exact(table.schema())
        return table

    def _project(self, batch: ChangeBatch, columns: StructType) -> DataFrame:
        """Return the net changes with the table's columns, each with its position."""
        values = project_event(batch.changes.type, columns)
        kept = [quote(each) for each in batch.net.columns if each.startswith(KEPT)]
        return batch.net.selectExpr(
            *(f"{value} AS {quote(name)}" for name, value in values.items()),
            *POSITION,
            DELETED,
            *kept,
        )

    def _merge(
        self, source: DataFrame, batch: ChangeBatch, columns: StructType, key: Sequence[str]
    ) -> None:
        fields = match_columns(columns, batch.changes.type, is_nested=False)
        updated = {quote(each): f"s.{quote(each)}" for each in fields}
        updated |= {each: f"s.{each}" for each in POSITION}
        inserted, late = dict(updated), ""
        updated |= _clear_replaced(columns, fields)
        if OLDER in columns.names:
            values = [
                LongValue(name, f"s.{quote(kept)}" if kept in source.columns else "")
                for name, field in fields.items()
                if field.name in batch.long_fields and (kept := f"{KEPT}{field.name}")
            ]
            some = [each for each in values if each.kept]
            updated |= {each.column: each.choose() for each in some}
            places = {each.key: each.write_place() for each in some}
            updated[OLDER] = write_older(places, "s._lsn")
            places = {each.key: each.write_first() for each in some}
            inserted[OLDER] = write_older(places, "s._lsn")
            late = self._write_late(values, batch)
        matches = [f"t.{quote(each)} = s.{quote(each)}" for each in key]
        same = " AND ".join([*matches, *find_bounds(source, key[0], columns)])
        with named_view(source) as view:
            statement = f"""
                MERGE INTO {self._written_as} t USING {view} s ON {same}
                WHEN MATCHED AND {_IS_NEWER} AND s.{DELETED} THEN DELETE
                WHEN MATCHED AND {_IS_NEWER} THEN UPDATE SET {_assign(updated)}
                {late}
                WHEN NOT MATCHED AND NOT s.{DELETED} THEN
                    INSERT ({", ".join(inserted)}) VALUES ({", ".join(inserted.values())})
            """
            batch.lease.check()
            run_commit(source.sparkSession, statement, self.name)

    def _write_late(self, values: Sequence[LongValue], batch: ChangeBatch) -> str:
        """Return the clause for changes that are older than rows, and later than values of theirs.

        It makes the MERGE read all columns of rows, so a batch that comes in order has none.
        """
        if self._last is None:
            self._last = find_last(batch.spark.table(self.name))
        is_late = batch.log.least <= self._last
        self._last = max(self._last, batch.log.greatest)
        if not values or not is_late:
            return ""
        updated = {each.column: each.choose_late() for each in values}
        places = {each.key: each.write_late_place() for each in values}
        updated[OLDER] = write_older(places, "t._lsn")
        return (
            f"WHEN MATCHED AND t.{OLDER} IS NOT NULL"
            f" AND ({' OR '.join(each.is_later for each in values)})"
            f" THEN UPDATE SET {_assign(updated)}"
        )

    def _delete_before(self, batch: ChangeBatch, moment: Moment) -> None:
        batch.lease.check()
        statement = f"DELETE FROM {self._written_as} WHERE {moment.is_later}"
        run_commit(batch.spark, statement, self.name)


class Deletions:
    """The keys of deleted rows, so that an older change that comes later does not restore them.

    Changes of a row come in order while its key stays in one Kafka partition, but for records that
    Kafka Connect writes again. A topic that gets partitions moves keys: a job may then read the
    deletion first. How long they are kept counts from when they were written, as Kafka's retention
    does: a capture that stood still writes changes that the database made long ago.
    """

    def __init__(self, table: str, days: int, clock: Callable[[], float] = time.time) -> None:
        self._name = qualify_table(table)
        self._days = days
        self._clock = clock
        self._forget_at = 0.0
        self._expiration = Expiration(clock)
        self._last: int | None = None  # no deletion has a later place, once it is known

    def keep(self, source: DataFrame, key: Sequence[str], log: BatchLog) -> DataFrame:
        """Remember the rows that a batch deletes, and return the changes that are not older."""
        columns = [*map(quote, key), *POSITION]
        if self._last is None:
            self._last = self.open(source.select(*columns))
        last = self._last
        if last >= log.least:
            source = self._drop_older(source, key)
        if log.deleted is not None:
            self.append(source.filter(DELETED).select(*columns))
            self._last = max(last, log.deleted)
        return source

    def open(self, rows: DataFrame) -> int:
        """Create the table, of a key and a position, if it is missing; return its last place."""
        spark = rows.sparkSession
        columns = [f"{quote(each.name)} {write_type(each.dataType)}" for each in rows.schema]
        listed = ", ".join([*columns, f"{_REMEMBERED_AT} TIMESTAMP"])
        create_table(spark, self._name, listed, _PROPERTIES)
        return find_last(self.read(spark))

    def read(self, spark: SparkSession) -> DataFrame:
        """Return the keys of deleted rows, with their positions."""
        return spark.table(self._name).drop(_REMEMBERED_AT)

    def _drop_older(self, source: DataFrame, key: Sequence[str]) -> DataFrame:
        known = self.read(source.sparkSession).alias("d")
        same = " AND ".join(f"d.{quote(each)} = s.{quote(each)}" for each in key)
        later = "(d._lsn > s._lsn OR (d._lsn = s._lsn AND d._offset > s._offset))"
        return source.alias("s").join(known, F.expr(f"{same} AND {later}"), "left_anti")

    def append(self, deleted: DataFrame) -> None:
        """Add deletions."""
        spark, now = deleted.sparkSession, self._clock()
        table = IcebergTable(spark, self._name)
        key = [StructField(each.name, each.dataType) for each in deleted.schema]
        grow_table(spark, table, StructType([each for each in key if each.name not in POSITION]))
        deleted.withColumn(_REMEMBERED_AT, F.timestamp_seconds(F.lit(int(now)))).writeTo(
            self._name
        ).append()
        self._expiration.expire(table)

    def forget(self, spark: SparkSession) -> None:
        """Once a day, delete the deletions that are too old."""
        now = self._clock()
        if now < self._forget_at:
            return
        if spark.catalog.tableExists(self._name):
            self._delete_old(spark, now)
        self._forget_at = now + _DAY_SECONDS

    def _delete_old(self, spark: SparkSession, now: float) -> None:
        if _REMEMBERED_AT not in spark.table(self._name).columns:
            spark.sql(f"ALTER TABLE {self._name} ADD COLUMN {_REMEMBERED_AT} TIMESTAMP")
        before = f"TIMESTAMP_SECONDS({int(now) - self._days * _DAY_SECONDS})"
        is_old = f"COALESCE({_REMEMBERED_AT}, _changed_at) < {before}"
        if not spark.table(self._name).filter(is_old).isEmpty():
            run_commit(spark, f"DELETE FROM {self._name} WHERE {is_old}", self._name)


def load_table(spark: SparkSession, name: str, written_as: str) -> IcebergTable:
    """Load a table, or refresh it, as statements change it under its other name.

    Whoever checks the lease after that changes what another job has not changed before: if one
    takes the lease later, and commits first, the statement is a conflict.

    Raises:
        SinkUnavailableError: see `IcebergTable.check_time`.
    """
    register_writer_catalog(spark)
    table = IcebergTable(spark, name, written_as)
    table.refresh()
    table.check_time()
    return table


def create_row_table(
    spark: SparkSession,
    name: str,
    batch: ChangeBatch,
    added: Mapping[str, str],
    buckets: int = 0,
) -> None:
    """Create a table with the columns of a batch's rows, and `added` ones, if it is missing."""
    if spark.catalog.tableExists(name):
        return
    columns = merge_columns(StructType(), batch.changes.type)
    listed = [
        f"{quote(each.name)} {write_type(each.dataType)}{_comment(each.metadata)}"
        for each in columns
    ] + [f"{each} {type_}" for each, type_ in added.items()]
    (first, *_) = find_key_columns(columns, batch)
    bucket = f"bucket({buckets}, {quote(first)})" if buckets else ""
    create_table(spark, name, ", ".join(listed), _PROPERTIES, bucket)


def add_older(spark: SparkSession, table: IcebergTable) -> None:
    """Add the column with the places of older values, if it is missing."""
    if OLDER not in table.schema().names:
        spark.sql(f"ALTER TABLE {table.name} ADD COLUMN {OLDER} MAP<STRING, BIGINT>")
        table.refresh()


def find_last(rows: DataFrame, place: str = "_lsn") -> int:
    """Return the last place of rows, -1 without any."""
    (row,) = rows.selectExpr(f"COALESCE(MAX({place}), -1) AS last").collect()
    return int(row["last"])


def find_bounds(source: DataFrame, key: str, columns: StructType) -> list[str]:
    """Return conditions by which files without rows of the batch are not read."""
    type_ = columns[key].dataType
    if not isinstance(type_, _RANGED):
        return []
    name = quote(key)
    (row,) = source.selectExpr(
        f"CAST(MIN({name}) AS STRING) AS least", f"CAST(MAX({name}) AS STRING) AS greatest"
    ).collect()
    if row["least"] is None:
        return []
    least, greatest = (_literal(row[each], write_type(type_)) for each in ("least", "greatest"))
    return [f"t.{name} BETWEEN {least} AND {greatest}"]


def find_key_columns(columns: StructType, batch: ChangeBatch) -> list[str]:
    """Return the columns of the primary key."""
    by_field = {
        field.name: column
        for column, field in match_columns(columns, batch.changes.type, is_nested=False).items()
    }
    return [by_field[each] for each in batch.key]


def compact_new_files(spark: SparkSession, table: IcebergTable, before: int) -> None:
    """Compact small data files once in so many commits, as the table's sequence number counts them.

    Each batch adds data files, and a batch of rows at random writes a delete file for each data
    file. `before` is the sequence number before the batch.
    """
    if before // _COMPACTED_COMMITS == table.sequence() // _COMPACTED_COMMITS:
        return
    name = table.name.removeprefix(f"{LAKE_CATALOG}.")
    options = {"target-file-size-bytes": _COMPACTED_BYTES, "max-file-size-bytes": _MOST_BYTES}
    for statement in write_compaction(name, options):
        run_commit(spark, statement, table.name)
    table.refresh()


def _clear_replaced(columns: StructType, fields: Collection[str]) -> dict[str, str]:
    """Clear what rows had before columns were widened: maintenance would bring it back."""
    replaced = find_replaced(columns).items()
    return {quote(before): "NULL" for before, name in replaced if name in fields}


def _assign(values: Mapping[str, str]) -> str:
    return ", ".join(f"t.{name} = {value}" for name, value in values.items())


def _comment(metadata: Mapping[str, Any]) -> str:
    text = metadata.get("comment")
    return f" COMMENT {quote_text(text)}" if text else ""


def _literal(text: str, type_: str) -> str:
    quoted = quote_text(text)
    return quoted if type_ == "STRING" else f"CAST({quoted} AS {type_})"
