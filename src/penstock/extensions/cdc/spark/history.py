"""An Iceberg table with each version of each row, and the time from and until which it was valid.

    _valid_from   when the change was made that made the version
    _valid_to     when the next change of the row was made; null for the version that is valid now
    _lsn, _offset              the position of the change that made the version
    _until_lsn, _until_offset  the position of the change that ended it

The versions of a row that is not deleted in between have no gap: a version ends at the very time at
which the next one begins. Changes of one transaction have one time, so a version may be valid for
no time at all.
"""

# ruff: noqa: S608 - every name in these statements is quoted or our own

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count
from typing import Final

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from penstock.extensions.cdc.spark.current import (
    compact_new_files,
    create_table,
    find_bounds,
    find_key_columns,
    run_commit,
)
from penstock.extensions.cdc.spark.net import BatchLog, Moment, find_unavailable
from penstock.extensions.cdc.spark.sink import ChangeBatch
from penstock.spark.columns import match_columns
from penstock.spark.lake.conversion import project_event, quote
from penstock.spark.lake.expiration import Expiration
from penstock.spark.lake.iceberg import IcebergTable, qualify_table
from penstock.spark.lake.widening import grow_table

_ADDED: Final = {
    "_lsn": "bigint",
    "_offset": "bigint",
    "_valid_from": "TIMESTAMP",
    "_valid_to": "TIMESTAMP",
    "_until_lsn": "bigint",
    "_until_offset": "bigint",
}
_ENDS: Final = {"_valid_to": "_valid_from", "_until_lsn": "_lsn", "_until_offset": "_offset"}
_LOST: Final = "_lost_"  # prefix of columns that say that the log does not have a value
_HELD: Final = "_held_"  # prefix of columns with the value of the version before
_VIEWS: Final = count(1)


class HistoryTable:
    """An Iceberg table with each version of each row.

    Args:
        table: its name, as DATABASE.TABLE.
        unavailable: the text that stands for values which the log does not have.
    """

    def __init__(self, table: str, unavailable: str) -> None:
        self.name = qualify_table(table)
        self._unavailable = unavailable
        self._expiration = Expiration()

    def write(self, batch: ChangeBatch) -> None:
        """Write the versions that changes make, and end those before them; this is idempotent.

        Raises:
            SchemaConflictError: a column cannot hold a field of the records; nothing is written.
            SinkUnavailableError: other commits came first; write the batch again.
        """
        spark = batch.spark
        if batch.log.has_rows:
            create_table(spark, self.name, batch, _ADDED)
        elif not spark.catalog.tableExists(self.name):
            return
        table = IcebergTable(spark, self.name)
        before = table.sequence()
        if batch.log.has_rows:
            grow_table(spark, table, batch.changes.type)
            columns = table.schema()
            key = find_key_columns(columns, batch)
            self._merge(self._make_versions(batch, columns, key), columns, key)
        for moment in (*batch.log.truncations, batch.log.complete):
            if moment is not None:
                self._end_before(spark, moment)
        table.refresh()
        compact_new_files(spark, table, before)
        self._expiration.expire(table)

    def _make_versions(
        self, batch: ChangeBatch, columns: StructType, key: Sequence[str]
    ) -> DataFrame:
        """Return the versions to add, and for each row the end of the version that was valid."""
        values = project_event(batch.changes.type, columns)
        lost = self._find_lost(batch, columns)
        changes = batch.changes.rows.selectExpr(
            *(f"{value} AS {quote(name)}" for name, value in values.items()),
            *("_op", "_lsn", "_offset", "_changed_at AS _valid_from"),
            *(f"{is_lost} AS {_LOST}{at}" for at, is_lost in enumerate(lost.values())),
        )
        bounds = find_bounds(changes, key[0], columns)
        known = self._find_known(batch.spark, key, lost, bounds)
        new = changes.join(known, [*key], "left").filter(
            "_known IS NULL OR STRUCT(_lsn, _offset) > _known"
        )
        order = Window.partitionBy(*map(quote, key)).orderBy("_lsn", "_offset")
        for at, name in enumerate(map(quote, lost)):
            here = f"IF({_LOST}{at} OR _op = 'd', NULL, STRUCT({name} AS value))"
            found = F.coalesce(F.last(F.expr(here), ignorenulls=True).over(order), f"{_HELD}{at}")
            new = new.withColumn(name.strip("`"), found["value"])
        place = F.struct("_lsn", "_offset", "_valid_from")
        versions = new.withColumns(
            {
                "_end": F.lead(place).over(order),
                "_after": F.struct("_lsn", "_offset"),
                "_at": F.row_number().over(order),
                "_ends": F.lit(False),
            }
        )
        ended = versions.filter("_at = 1 AND _open > 0").withColumns(
            {"_end": place, "_after": F.col("_known"), "_ends": F.lit(True)}
        )
        rows = versions.filter("_op <> 'd'").unionByName(ended)
        end = F.least("_end", F.expr(_find_truncation(batch.log)))
        return rows.withColumn("_end", end).withColumns(
            {name: F.col(f"_end.{of}") for name, of in _ENDS.items()}
        )

    def _find_lost(self, batch: ChangeBatch, columns: StructType) -> dict[str, str]:
        """Return the columns whose values the log may not have, each with that condition."""
        if not batch.log.is_unavailable:
            return {}
        fields = match_columns(columns, batch.changes.type, is_nested=False)
        lost = dict(find_unavailable(batch.changes.type, self._unavailable))
        return {name: lost[field.name] for name, field in fields.items() if field.name in lost}

    def _find_known(
        self, spark: SparkSession, key: Sequence[str], lost: Iterable[str], bounds: Sequence[str]
    ) -> DataFrame:
        """Return the last position of each row within bounds, whether it is valid, and values."""
        place, until = (
            "STRUCT(_lsn, _offset)",
            "STRUCT(_until_lsn AS _lsn, _until_offset AS _offset)",
        )
        held = [
            F.expr(f"MAX_BY(STRUCT({quote(name)} AS value), {place})").alias(f"{_HELD}{at}")
            for at, name in enumerate(lost)
        ]
        return (
            spark.table(self.name)
            .alias("t")
            .filter(" AND ".join(bounds) or "TRUE")
            .groupBy(*map(quote, key))
            .agg(
                F.expr(f"MAX(GREATEST({place}, {until}))").alias("_known"),
                F.expr("COUNT_IF(_until_lsn IS NULL)").alias("_open"),
                *held,
            )
        )

    def _merge(self, source: DataFrame, columns: StructType, key: Sequence[str]) -> None:
        view = f"penstock_versions_{next(_VIEWS)}"
        source.createOrReplaceTempView(view)
        names = [quote(each) for each in columns.names if each in source.columns]
        same = " AND ".join(f"t.{quote(each)} = s.{quote(each)}" for each in key)
        ends = ", ".join(f"t.{each} = s.{each}" for each in _ENDS)
        try:
            run_commit(
                source.sparkSession,
                f"""
                MERGE INTO {self.name} t USING {view} s
                ON {same} AND t._until_lsn IS NULL AND s._ends
                WHEN MATCHED THEN UPDATE SET {ends}
                WHEN NOT MATCHED AND NOT s._ends THEN
                    INSERT ({", ".join(names)}) VALUES ({", ".join(f"s.{each}" for each in names)})
                """,
                self.name,
            )
        finally:
            source.sparkSession.catalog.dropTempView(view)

    def _end_before(self, spark: SparkSession, moment: Moment) -> None:
        """End the versions that are valid since before a place of the log."""
        run_commit(
            spark,
            f"UPDATE {self.name} SET _valid_to = TIMESTAMP_MICROS({moment.time}),"
            f" _until_lsn = {moment.lsn}, _until_offset = {moment.offset}"
            f" WHERE _until_lsn IS NULL AND {moment.is_later}",
            self.name,
        )


def _find_truncation(log: BatchLog) -> str:
    """Return the SQL of the first TRUNCATE after the position `_after`, with its time."""
    known = {*log.truncations, *filter(None, [log.state.truncated])}
    moments = ", ".join(
        f"NAMED_STRUCT('_lsn', {each.lsn}L, '_offset', {each.offset}L,"
        f" '_valid_from', TIMESTAMP_MICROS({each.time}))"
        for each in sorted(known)
    )
    later = "STRUCT(t._lsn, t._offset) > _after"
    none = "CAST(NULL AS STRUCT<_lsn: BIGINT, _offset: BIGINT, _valid_from: TIMESTAMP>)"
    return f"ARRAY_MIN(FILTER(ARRAY({moments}), t -> {later}))" if moments else none
