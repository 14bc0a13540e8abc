"""Follow a table of the lake: a stream of the rows that are appended to it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from pyspark.sql import DataFrame, SparkSession

from penstock.spark.lake.iceberg import IcebergTable, qualify_table

_SKIPPED: Final = {f"streaming-skip-{kind}-snapshots": "true" for kind in ("delete", "overwrite")}


class FollowedTable:
    """A table of the lake, as DATABASE.TABLE, whose rows a stream reads.

    A query reads each snapshot once, by the columns of its start. Snapshots of compactions have no
    new rows and are skipped, as are those that change or delete rows.
    """

    def __init__(self, spark: SparkSession, table: str) -> None:
        self.name = qualify_table(table)
        self._spark = spark
        self._table = IcebergTable(spark, self.name)

    def rows(self) -> DataFrame:
        """Return the stream of the table's rows."""
        stream = self._spark.readStream.format("iceberg").options(**_SKIPPED)
        return stream.load(self.name)

    def expired(self) -> datetime | None:
        """Return the time before which snapshots have expired, None if the table has them all.

        A query with a new checkpoint reads what was appended since then, and nothing from before.
        """
        milliseconds = self._table.expired_ms()
        return datetime.fromtimestamp(milliseconds / 1_000, UTC) if milliseconds else None
