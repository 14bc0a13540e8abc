"""The result of a query over current tables, as an Iceberg table that is replaced as a whole."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from threading import Lock
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from penstock.extensions.cdc.spark.sink import ChangeBatch
from penstock.spark.lake.creation import BOUNDED_METADATA
from penstock.spark.lake.expiration import HOUR_MS, MAX_AGE, Expiration
from penstock.spark.lake.iceberg import IcebergTable, qualify_table

_MADE_FOR: Final = "penstock.made-for"
_PROPERTIES: Final = {
    # Each snapshot is a whole copy of the result.
    MAX_AGE: str(HOUR_MS),
    **BOUNDED_METADATA,
    "write.parquet.compression-codec": "snappy",
}


@dataclass(frozen=True, slots=True)
class RefinedTable:
    """An Iceberg table with the result of a query, and those of the last hour, in Snappy.

    The tables of a batch are written at once, and each of those that the query reads replaces the
    result. They take turns, so that the last one finds what all have committed.

    Attributes:
        table: its name, as DATABASE.TABLE.
        query: the query.
        by: the column that partitions it; empty for none.
        sources: the current tables that the query reads.
    """

    table: str
    query: str
    by: str = ""
    sources: tuple[str, ...] = ()
    _expiration: Expiration = field(default_factory=Expiration)
    _turn: Lock = field(default_factory=Lock)

    def write(self, batch: ChangeBatch) -> None:
        """Run the query again if rows have changed, and all tables that it reads are there."""
        read = map(qualify_table, self.sources)
        if not batch.log.changes or not all(map(batch.spark.catalog.tableExists, read)):
            return
        name = qualify_table(self.table)
        with self._turn:
            self._replace(batch.spark.sql(self.query), name)
            self._expiration.expire(IcebergTable(batch.spark, name))

    def _replace(self, rows: DataFrame, name: str) -> None:
        """Replace the rows of the table; create it again only if its columns have changed.

        That restores the snapshots from before the query ran, including those that have expired
        since, whose files are gone.
        """
        spark, writer = rows.sparkSession, rows.writeTo(name)
        made_for = f"{rows.schema.simpleString()} by {self.by}"
        if spark.catalog.tableExists(name):
            properties = IcebergTable(spark, name).properties()
            if properties.get(_MADE_FOR) == made_for:
                writer.overwrite(F.lit(True))
                return
        writer = writer.using("iceberg")
        for key, text in {**_PROPERTIES, _MADE_FOR: made_for}.items():
            writer = writer.tableProperty(key, text)
        if self.by:
            writer = writer.partitionedBy(F.col(self.by))
        writer.createOrReplace()


def find_sources(query: str, tables: Iterable[str]) -> tuple[str, ...]:
    """Return the tables, as DATABASE.TABLE, that a query names."""
    words = query.replace("`", "")
    return tuple(
        each for each in tables if re.search(rf"\b{re.escape(each)}\b", words, re.IGNORECASE)
    )
