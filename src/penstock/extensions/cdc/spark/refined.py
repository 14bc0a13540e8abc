"""The result of a query over current tables, as an Iceberg table that is replaced as a whole."""

from __future__ import annotations

from dataclasses import dataclass, field

from pyspark.sql import functions as F

from penstock.extensions.cdc.spark.sink import ChangeBatch
from penstock.spark.lake.expiration import Expiration
from penstock.spark.lake.iceberg import IcebergTable, qualify_table


@dataclass(frozen=True, slots=True)
class RefinedTable:
    """An Iceberg table with the result of a query, compressed by Snappy.

    Attributes:
        table: its name, as DATABASE.TABLE.
        query: the query.
        by: the column that partitions it; empty for none.
    """

    table: str
    query: str
    by: str = ""
    _expiration: Expiration = field(default_factory=Expiration)

    def write(self, batch: ChangeBatch) -> None:
        """Run the query again if rows have changed."""
        if not batch.log.changes:
            return
        name = qualify_table(self.table)
        writer = batch.spark.sql(self.query).writeTo(name).using("iceberg")
        writer = writer.tableProperty("write.parquet.compression-codec", "snappy")
        if self.by:
            writer = writer.partitionedBy(F.col(self.by))
        writer.createOrReplace()
        self._expiration.expire(IcebergTable(batch.spark, name))
