"""A table of the lake with one row for each key, into which batches merge their rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from pyspark.sql import DataFrame

from penstock.spark.lake.conversion import quote
from penstock.spark.lake.creation import create_table
from penstock.spark.lake.expiration import HOUR_MS, MAX_AGE, Expiration
from penstock.spark.lake.iceberg import IcebergTable, qualify_table

_PROPERTIES: Final = {
    # A batch may write all rows again, and each snapshot keeps those that it replaced.
    MAX_AGE: str(HOUR_MS),
}


class MergedTable:
    """A table of the lake with one row for each key, and its snapshots of the last hour.

    Args:
        table: its name, as DATABASE.TABLE; it is created with the first rows.
    """

    def __init__(self, table: str) -> None:
        self.name = qualify_table(table)
        self._expiration = Expiration()

    def merge(self, rows: DataFrame, key: Iterable[str]) -> None:
        """Write rows in place of those with the same key; to write them again changes nothing.

        Raises:
            LakeHistoryError: the table is missing, and its folder has data files.
        """
        spark = rows.sparkSession
        columns = (f"{quote(each.name)} {each.dataType.simpleString()}" for each in rows.schema)
        create_table(spark, self.name, ", ".join(columns), _PROPERTIES)
        same = " AND ".join(f"old.{quote(each)} = new.{quote(each)}" for each in key)
        rows.createOrReplaceTempView("penstock_merged")
        spark.sql(
            f"MERGE INTO {self.name} AS old USING penstock_merged AS new ON {same}"
            " WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
        )
        self._expiration.expire(IcebergTable(spark, self.name))
