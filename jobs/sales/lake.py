"""Totals in an Iceberg table, and sales that are read from one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from jobs.sales.records import AMOUNT, POSITION, keep_sales
from jobs.sales.reports import SalesLines
from jobs.sales.settings import ReportSettings, RunSettings, TimeSettings
from jobs.sales.summaries import WINDOW, add_regions, count_once, divide_state, trust_times
from penstock.errors import CheckpointError
from penstock.settings import Settings, nested, setting
from penstock.spark import Checkpoint, FollowedTable, MergedTable, whole_column

# The names that positions have in tables of the consuming job.
_POSITION: Final = dict(
    zip(("_kafka_timestamp", "_kafka_partition", "_offset"), POSITION, strict=True)
)
_COLUMNS: Final = ("payment_id", "amount", "country", *_POSITION)
_EDGES: Final = ("start", "end")


@dataclass(frozen=True, slots=True)
class LakeSettings(ReportSettings):
    """Settings of the jobs that read sales from a table of the consuming job."""

    times: TimeSettings = nested(TimeSettings)
    table: str = setting("SALES_TABLE", "table that the consuming job writes, as DATABASE.TABLE")


@dataclass(frozen=True, slots=True)
class LakeStreamSettings(Settings):
    """Settings of those that follow the table."""

    lake: LakeSettings = nested(LakeSettings)
    run: RunSettings = nested(RunSettings)
    output_table: str = setting(
        "SALES_OUTPUT_TABLE", "table for the totals, as DATABASE.TABLE, created if it is missing"
    )


def read_lake(spark: SparkSession, settings: LakeSettings, observation: Observation) -> DataFrame:
    """Return the sales that a table has now; a payment that came twice counts once."""
    return _prepare(spark.table(f"lake.{settings.table}"), settings, observation)


def start_lake(
    spark: SparkSession,
    settings: LakeStreamSettings,
    total: Callable[[DataFrame, str], DataFrame],
    lines: SalesLines,
) -> StreamingQuery:
    """Start a query that merges the totals of one table's sales into another table.

    Raises:
        CheckpointError: the checkpoint is new, and snapshots of the table have expired; or it has
            totals by another key.
    """
    lake = settings.lake
    checkpoint = Checkpoint(spark, settings.run.checkpoint)
    checkpoint.check_key(lake.by)
    table = FollowedTable(spark, lake.table, _COLUMNS)
    output = MergedTable(settings.output_table)
    if checkpoint.is_new():
        _check_history(table, checkpoint)
    checkpoint.forget_snapshot()
    sales = _prepare(table.rows(), lake, "sales")

    def write(totals: DataFrame, number: int) -> None:
        table.check_columns()
        totals.persist()  # the state is read once
        merge_totals(totals, lake.by, output)
        lines.add(checkpoint.query_id(), number, {"out": totals.count()})
        totals.unpersist()

    divide_state(spark)
    # Each batch has the totals that it changed, and windows are forgotten once they are over.
    stream = total(sales, lake.by).writeStream.outputMode("update").foreachBatch(write)
    stream = stream.option("checkpointLocation", settings.run.checkpoint)
    return stream.trigger(**settings.run.when()).start()


def _check_history(table: FollowedTable, checkpoint: Checkpoint) -> None:
    if expired := table.expired():
        raise CheckpointError(
            f"the checkpoint {checkpoint.folder} is new, and the snapshots of {table.name} before "
            f"{expired.isoformat()} have expired: the totals would lack their sales. Go on with the"
            " checkpoint of the totals, or run lake-summary, which reads all sales that the table"
            " has"
        )


def merge_totals(totals: DataFrame, key: str, table: MergedTable) -> None:
    """Write totals into a table of the lake, which has one row for each key and window."""
    edges = [F.col(f"{WINDOW}.{edge}").alias(f"{WINDOW}_{edge}") for edge in _EDGES]
    has_windows = WINDOW in totals.columns
    rows = totals.select(key, *(edges if has_windows else []), "sales", "orders")
    table.merge(rows, [key, f"{WINDOW}_start"] if has_windows else [key])


def _prepare(rows: DataFrame, settings: LakeSettings, observation: Observation | str) -> DataFrame:
    """Return the sales in rows of a table, streamed or not, each payment once."""
    amount = whole_column(rows, "amount").try_cast(AMOUNT).alias("amount")
    named = rows.select(whole_column(rows, "payment_id"), amount, "country", *_POSITION)
    named = named.withColumnsRenamed(_POSITION)
    sales = count_once(trust_times(keep_sales(named, observation), settings.times.ahead))
    return add_regions(sales, settings)
