"""Open the sinks that a job's settings name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import SparkSession

from penstock.records import KeyFormat, Projection, Tombstone
from penstock.registry import RegistrySettings
from penstock.spark.failures import ErrorSink
from penstock.spark.lake.conversion import EventTime
from penstock.spark.lake.iceberg import WRITER_CATALOG, register_writer_catalog
from penstock.spark.lake.lake import Lake
from penstock.spark.lake.parquet import ParquetFiles
from penstock.spark.lake.replay import ReplayedFiles, ReplayedLake
from penstock.spark.query.dynamodb import DynamoDbDeletions, DynamoDbTables, Follower
from penstock.spark.query.record_task import RecordTable
from penstock.spark.rows import Fence, Sink
from penstock.spark.settings.sinks import SinkSettings
from penstock.spark.state.lease import LeasedSink


def open_sinks(  # noqa: PLR0913 - what the sinks of a job share
    spark: SparkSession,
    settings: SinkSettings,
    errors: ErrorSink,
    lease: Fence,
    schemas: RegistrySettings,
    *,
    replayed: bool = False,
    follower: Follower | None = None,
) -> Sequence[Sink] | Mapping[str, Sequence[Sink]]:
    """Open the sinks of all records, or with routes by schema name.

    Sinks are written to only while the lease is held; rejected records go to `errors`. Executors
    look up the schemas of Avro keys in `schemas`. Sinks for `replayed` records skip rows that
    exist, whichever batch wrote them. The `follower` takes the rows that DynamoDB has.
    """

    register_writer_catalog(spark)

    def open_tables(given: SinkSettings) -> list[Sink]:
        open_ = _open_replayed if replayed else _open
        sinks = open_(spark, given, errors, lease)
        if given.dynamodb_table:
            rate = given.dynamodb_rows_per_second
            keys = _key_schemas(given, schemas)
            table = given.dynamodb_table
            sinks.append(DynamoDbTables(table, errors, given.shape, keys, follower, rate))
        return [LeasedSink(sink, lease) for sink in sinks]

    if not settings.route:
        return open_tables(settings)
    return {name: open_tables(each) for name, each in settings.by_schema().items()}


def open_tombstones(
    settings: SinkSettings,
    errors: ErrorSink,
    lease: Fence,
    schemas: RegistrySettings,
    follower: Follower | None = None,
) -> Sequence[Sink]:
    """Open the sinks for records without a value; there are none unless these delete rows."""
    if settings.shape.tombstone is not Tombstone.DELETE:
        return ()
    keys = _key_schemas(settings, schemas)
    table = settings.dynamodb_table
    deletions = DynamoDbDeletions(table, errors, settings.shape, keys, follower)
    return [LeasedSink(deletions, lease)]


def open_record_table(
    settings: SinkSettings,
    columns: Projection,
    schemas: RegistrySettings,
    follower: Follower | None = None,
    *,
    is_driver: bool = False,
) -> RecordTable:
    """Open a table of DynamoDB alone, whose records are not decoded by Spark."""
    return RecordTable(
        settings.dynamodb_table,
        settings.shape,
        columns,
        settings.dynamodb_rows_per_second,
        _key_schemas(settings, schemas),
        follower,
        is_driver,
    )


def _key_schemas(settings: SinkSettings, schemas: RegistrySettings) -> RegistrySettings | None:
    """Return the registries if executors need them: for Avro keys."""
    return schemas if settings.shape.key_format is KeyFormat.AVRO else None


def _open(
    spark: SparkSession, settings: SinkSettings, errors: ErrorSink, fence: Fence
) -> list[Sink]:
    return [*_open_lake(spark, settings, errors, fence), *_open_files(settings, errors)]


def _open_replayed(
    spark: SparkSession, settings: SinkSettings, errors: ErrorSink, fence: Fence
) -> list[Sink]:
    return [
        *map(ReplayedLake, _open_lake(spark, settings, errors, fence)),
        *(ReplayedFiles(spark, each) for each in _open_files(settings, errors)),
    ]


def _open_lake(
    spark: SparkSession, settings: SinkSettings, errors: ErrorSink, fence: Fence
) -> list[Lake]:
    if not settings.lake_table:
        return []
    time = _event_time(settings)
    return [Lake(spark, settings.lake_table, time, fence, errors, catalog=WRITER_CATALOG)]


def _open_files(settings: SinkSettings, errors: ErrorSink) -> list[ParquetFiles]:
    if not settings.parquet_path:
        return []
    table = settings.parquet_table
    return [ParquetFiles(settings.parquet_path, _event_time(settings), table, errors)]


def _event_time(settings: SinkSettings) -> EventTime:
    return EventTime(settings.shape.event_time, settings.event_days_before)
