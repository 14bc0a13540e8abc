"""Summaries of sales: functions of DataFrames, the same for batches and streams."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from jobs.sales.records import POSITION, load_regions
from jobs.sales.settings import Key, ReportSettings
from penstock.spark import ignore_future

COUNTRY: Final = "country"
REGION: Final = "region"
UNASSIGNED: Final = "Unassigned"
WINDOW: Final = "window"  # a struct of start and end

_LENGTH, _SLIDE = "10 minutes", "5 minutes"
_DELAY: Final = "10 minutes"
_MINUTE: Final = "yyyy-MM-dd HH:mm"
# Spark's default, which nobody chose: 200 tasks for the state of a hundred countries.
_DEFAULT_PARTITIONS: Final = "200"
_PARTITIONS: Final = "4"


def divide_state(spark: SparkSession) -> None:
    """Divide the state of a stream into a few partitions, unless somebody has chosen a number."""
    if spark.conf.get("spark.sql.shuffle.partitions") == _DEFAULT_PARTITIONS:
        spark.conf.set("spark.sql.shuffle.partitions", _PARTITIONS)


def add_regions(sales: DataFrame, settings: ReportSettings) -> DataFrame:
    """Add the region of each sale, from the file of regions, if sales are summarised by region."""
    if settings.by is Key.COUNTRY:
        return sales
    path = settings.files.locate(settings.files.regions_file)
    return join_regions(sales, load_regions(sales.sparkSession, path))


def join_regions(sales: DataFrame, regions: DataFrame) -> DataFrame:
    """Add the region of each sale's country; a country without one is `Unassigned`."""
    joined = sales.join(F.broadcast(regions), on=COUNTRY, how="left")
    return joined.withColumn(REGION, F.coalesce(REGION, F.lit(UNASSIGNED)))


def total_sales(sales: DataFrame, *keys: str | Column) -> DataFrame:
    """Return the sales and orders of each key."""
    return sales.groupBy(*keys).agg(
        F.sum("amount").alias("sales"), F.count("amount").alias("orders")
    )


def trust_times(sales: DataFrame, ahead: str) -> DataFrame:
    """Wait ten minutes for late sales, and leave out those further than `ahead` in the future."""
    return ignore_future(sales, "timestamp", ahead).withWatermark("timestamp", _DELAY)


def count_once(sales: DataFrame) -> DataFrame:
    """Leave out payments that came before; a stream needs `trust_times`, and remembers as long."""
    if sales.isStreaming:
        return sales.dropDuplicatesWithinWatermark(["payment_id"])
    return sales.dropDuplicates(["payment_id"])


def total_in_windows(sales: DataFrame, key: str) -> DataFrame:
    """Return the totals of each key in windows of ten minutes that begin every five minutes.

    The time of a sale is the timestamp of its Kafka record.
    """
    return total_sales(sales, key, F.window("timestamp", _LENGTH, _SLIDE).alias(WINDOW))


def drop_begun(totals: DataFrame, begins: datetime) -> DataFrame:
    """Leave out windows that begin before a time, from which on the sales were read."""
    return totals.filter(F.col(f"{WINDOW}.start") >= F.lit(begins))


def rank_totals(totals: DataFrame, key: str) -> DataFrame:
    """Sort totals by window, the newest first, then by sales; equal sales are sorted by the key."""
    windows = [F.desc(WINDOW)] if WINDOW in totals.columns else []
    return totals.orderBy(*windows, F.desc("sales"), key)


def format_totals(totals: DataFrame, key: str) -> DataFrame:
    """Return the columns to show: sales as text such as 1,379.05, and windows to the minute."""
    windows = [
        F.date_format(f"{WINDOW}.{edge}", _MINUTE).alias(edge)
        for edge in ("start", "end")
        if WINDOW in totals.columns
    ]
    return totals.select(key, F.format_number("sales", 2).alias("sales"), "orders", *windows)


def latest_rows(rows: DataFrame, *keys: str) -> DataFrame:
    """Return the row of each key that is newest in Kafka, without its position.

    It is the last one of its partition, whatever the clocks of the programs that wrote. A key is in
    several partitions if the topic got more; then the timestamps of the last ones are compared.
    """
    others = [name for name in rows.columns if name not in {*keys, *POSITION}]
    last = F.max_by(F.struct("timestamp", F.struct(*others).alias("row")), "offset").alias("last")
    newest = F.max_by("last.row", "last.timestamp").alias("newest")
    found = rows.groupBy(*keys, "partition").agg(last).groupBy(*keys).agg(newest)
    return found.select(*keys, "newest.*")
