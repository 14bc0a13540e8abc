"""The tables that a job's settings name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import SparkSession

from penstock.spark.dynamodb import DynamoDbTables
from penstock.spark.giving_up import ErrorSink
from penstock.spark.lake import Lake
from penstock.spark.lease import Lease, LeasedSink
from penstock.spark.parquet import ParquetFiles
from penstock.spark.rows import Sink
from penstock.spark.sink_settings import SinkSettings


def open_sinks(
    spark: SparkSession, settings: SinkSettings, errors: ErrorSink, lease: Lease
) -> Sequence[Sink] | Mapping[str, Sequence[Sink]]:
    """Open the sinks of all records, or with routes by the name of a record's schema.

    They are written to for as long as the lease is held; what they refuse goes to the errors.
    """
    if not settings.route:
        return _open(spark, settings, errors, lease)
    tables = settings.by_schema()
    return {name: _open(spark, tables[name], errors, lease) for name in tables}


def _open(
    spark: SparkSession, settings: SinkSettings, errors: ErrorSink, lease: Lease
) -> list[Sink]:
    sinks: list[Sink] = []
    if settings.lake_table:
        sinks.append(Lake(spark, settings.lake_table, settings.event_time))
    if settings.dynamodb_table:
        rate = settings.dynamodb_rows_per_second
        sinks.append(DynamoDbTables(settings.dynamodb_table, errors, rate))
    if settings.parquet_path:
        sinks.append(ParquetFiles(settings.parquet_path, settings.event_time))
    return [LeasedSink(sink, lease) for sink in sinks]
