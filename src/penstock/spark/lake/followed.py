"""Follow a table of the lake: a stream of the rows that are appended to it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

from pyspark.sql import DataFrame, SparkSession

from penstock.errors import JobError
from penstock.spark.lake.iceberg import IcebergTable, qualify_table

_SKIPPED: Final = {f"streaming-skip-{kind}-snapshots": "true" for kind in ("delete", "overwrite")}


class FollowedTable:
    """A table of the lake, as DATABASE.TABLE, whose rows a stream reads.

    A query reads each snapshot once, by the columns of its start; `columns` are those that it
    cannot do without. Snapshots of compactions have no new rows and are skipped, as are those that
    change or delete rows.
    """

    def __init__(self, spark: SparkSession, table: str, columns: Iterable[str]) -> None:
        self.name = qualify_table(table)
        self._spark = spark
        self._table = IcebergTable(spark, self.name)
        self._ids = self._table.field_ids(columns)  # before the stream has its columns

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

    def check_columns(self) -> None:
        """Check that the table still has the columns of the start; call it before a batch is taken.

        Raises:
            JobError: a column was replaced, so that the batch may have rows whose value is in the
                new one. A query that starts again with its checkpoint reads them.
        """
        self._table.refresh()
        ids = self._table.field_ids(self._ids)
        if replaced := [name for name, id_ in self._ids.items() if ids[name] != id_]:
            raise JobError(
                f"the columns {', '.join(replaced)} of {self.name}, which this stream reads, were"
                " replaced: it would read null in new rows. Start it again with the same"
                " checkpoint, which repeats this batch"
            )
