"""Totals in an Iceberg table, and sales that are read from one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from jobs.sales.records import AMOUNT, POSITION, load_regions
from jobs.sales.settings import FileSettings, Key
from jobs.sales.summaries import (
    WINDOW,
    count_once,
    join_regions,
    total_in_windows,
    trust_times,
)
from penstock.settings import Settings, nested, setting
from penstock.spark.settings.consume import parse_trigger, when

# The names that positions have in tables of the consuming job.
_POSITION: Final = dict(
    zip(("_kafka_timestamp", "_kafka_partition", "_offset"), POSITION, strict=True)
)
_EDGES: Final = ("start", "end")


@dataclass(frozen=True, slots=True)
class LakeSettings(Settings):
    """Settings of `lake`."""

    files: FileSettings = nested(FileSettings)
    table: str = setting("SALES_TABLE", "table that the consuming job writes, as DATABASE.TABLE")
    output_table: str = setting(
        "SALES_OUTPUT_TABLE", "table for the totals, as DATABASE.TABLE, created if it is missing"
    )
    checkpoint: str = setting(
        "SALES_CHECKPOINT", "folder for the checkpoint, such as s3://..., for this job alone"
    )
    by: Key = setting("SALES_BY", "country or region", parse=Key, default=Key.COUNTRY)
    trigger: str = setting(
        "SALES_TRIGGER",
        "available-now to read what is available and end, or an interval like '30 seconds'",
        parse=parse_trigger,
        default="1 minute",
    )

    def when(self) -> dict[str, Any]:
        """Return the arguments of Spark's `trigger`."""
        return when(self.trigger)


def start_lake(spark: SparkSession, settings: LakeSettings) -> StreamingQuery:
    """Start a query that merges the totals in windows of one table's sales into another table."""
    sales = count_once(trust_times(read_table_sales(follow_table(spark, f"lake.{settings.table}"))))
    if settings.by is Key.REGION:
        path = settings.files.locate(settings.files.regions_file)
        sales = join_regions(sales, load_regions(spark, path))

    def write(totals: DataFrame, _: int) -> None:
        merge_totals(totals, settings.by, settings.output_table)

    # Each batch has the totals that it changed, and windows are forgotten once they are over.
    stream = total_in_windows(sales, settings.by).writeStream.outputMode("update")
    stream = stream.foreachBatch(write).option("checkpointLocation", settings.checkpoint)
    return stream.trigger(**settings.when()).start()


def follow_table(spark: SparkSession, table: str) -> DataFrame:
    """Open the stream of a table's rows; a query reads each snapshot once.

    The columns are those of the start. Snapshots of compactions have no new rows and are skipped,
    as are those that change or delete rows.
    """
    skipped = {f"streaming-skip-{kind}-snapshots": "true" for kind in ("delete", "overwrite")}
    return spark.readStream.format("iceberg").options(**skipped).load(table)


def read_table_sales(rows: DataFrame) -> DataFrame:
    """Return the sales in rows of a table of the consuming job, streamed or not."""
    return rows.withColumnsRenamed(_POSITION).select(
        "payment_id", F.col("amount").cast(AMOUNT), "country", *POSITION
    )


def merge_totals(totals: DataFrame, key: str, table: str) -> None:
    """Write totals into DATABASE.TABLE of the lake, which has one row for each key and window.

    It is created if it is missing. A batch that is written again changes no row.
    """
    edges = [F.col(f"{WINDOW}.{edge}").alias(f"{WINDOW}_{edge}") for edge in _EDGES]
    has_windows = WINDOW in totals.columns
    rows = totals.select(key, *(edges if has_windows else []), "sales", "orders")
    columns = ", ".join(f"`{each.name}` {each.dataType.simpleString()}" for each in rows.schema)
    same = [key, f"{WINDOW}_start"] if has_windows else [key]
    spark = totals.sparkSession
    spark.sql(f"CREATE TABLE IF NOT EXISTS lake.{table} ({columns}) USING iceberg")
    rows.createOrReplaceTempView("new_totals")
    spark.sql(
        f"MERGE INTO lake.{table} AS old USING new_totals AS new"
        f" ON {' AND '.join(f'old.`{name}` = new.`{name}`' for name in same)}"
        " WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
