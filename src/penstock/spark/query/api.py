"""Functions for your own jobs and notebooks; examples/ has a runnable one for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from penstock.errors import Reason
from penstock.framing import SchemaKey
from penstock.registry import Registries
from penstock.spark.decoding.admission import admit_versions, find_versions
from penstock.spark.decoding.decoder import Decoder
from penstock.spark.decoding.frames import RowStatus, split_frames
from penstock.spark.failures import DynamoDbErrors, ErrorSink, LoggedErrors
from penstock.spark.query.parts import FRAMED
from penstock.spark.query.sinks import open_sinks, open_tombstones
from penstock.spark.query.source import open_stream
from penstock.spark.query.stream import KafkaWatch, StreamQuery, Transform
from penstock.spark.rows import EVENT, Fence
from penstock.spark.settings.consume import ConsumeSettings
from penstock.spark.state.lease import Lease, name_lease
from penstock.tables import BatchId

STATUS = "_status"


def decode(records: DataFrame, registries: Registries) -> DataFrame:
    """Decode a batch of Kafka records of any schema versions.

    Every record has a row, with the columns of `penstock.spark.rows` and `_status`: `decoded`,
    `tombstone`, `unknown` for a version that cannot be used, or the `Reason` why it cannot be read.
    `event` is null unless the status is `decoded`. The records are read twice, first for schema
    ids.

    Args:
        records: rows of Spark's Kafka source, or a table with its columns.
        registries: the registries in which versions are looked up.

    Raises:
        RegistryError: a registry cannot answer now (retriable).
    """
    frames = split_frames(records, registries.framing)
    kinds = frames.filter(FRAMED).select("schema", "compression").distinct().collect()
    keys = {SchemaKey.unpack(bytes(row.schema)) for row in kinds}
    found, _ = find_versions(registries, keys)
    versions, _ = admit_versions(frames.sparkSession, found)
    decoder = Decoder(frames.sparkSession, versions)
    if any(row.compression != "none" for row in kinds):
        frames = decoder.inflate(frames)
    rows = decoder.project(decoder.decode(frames), F.col("status").alias(STATUS))
    is_decoded = F.col(STATUS) == RowStatus.DECODED.value
    return rows.withColumn(EVENT, F.when(is_decoded, F.col(EVENT)))


@dataclass(frozen=True, slots=True)
class _Function:
    """A sink that calls a function."""

    function: Callable[[DataFrame, BatchId, int], None]

    def write(self, rows: DataFrame, batch: BatchId, part: int) -> Mapping[Reason, int]:
        self.function(rows, batch, part)
        return {}


def follow(
    stream: DataFrame,
    registries: Registries,
    checkpoint: str,
    write: Callable[[DataFrame, BatchId, int], None],
    *,
    errors: ErrorSink | None = None,
    **trigger: Any,
) -> StreamingQuery:
    """Follow a stream of Kafka records into your own sink; new schemas need no restart.

    Args:
        stream: the stream of Spark's Kafka source; with `includeHeaders`, schema ids in headers are
            found, and dead letters keep their headers.
        registries: the registries in which versions are looked up.
        checkpoint: a folder for this query alone.
        write: called with the rows of each part of a batch (`penstock.spark.rows`), at least once;
            after a crash it is called again with the same rows, batch and part. Each read of them
            reads Kafka, and only the first is compared with other passes: cache them for more.
        errors: a sink for records that cannot be decoded; without it they are logged.
        trigger: arguments of Spark's `trigger`, such as `availableNow=True`.

    Raises:
        CheckpointError: a file of the checkpoint is damaged.
    """
    return StreamQuery(
        stream=stream,
        checkpoint=checkpoint,
        registries=registries,
        sinks=[_Function(write)],
        errors=errors or LoggedErrors(),
    ).start(**trigger)


def start_consuming(
    spark: SparkSession,
    settings: ConsumeSettings,
    *,
    registries: Registries | None = None,
    errors: ErrorSink | None = None,
    transform: Transform | None = None,
) -> StreamingQuery:
    """Start the query of `jobs/consume.py`, and hold the lease of its checkpoint until it ends.

    Args:
        spark: a session from `build_session`.
        settings: the settings of the job.
        registries: used in place of those that the settings name, except for the schemas of keys.
        errors: used in place of the dead-letter table that the settings name.
        transform: a pure function of decoded rows, applied before every sink.

    Raises:
        CheckpointTakenError: another job holds the lease.
        CheckpointError: a file of the checkpoint is damaged.
    """
    sinks = settings.sinks
    with Lease.claim(sinks.errors_table, name_lease(settings.checkpoint), settings.lease) as lease:
        query = build_query(
            spark,
            settings,
            registries or settings.schemas.load(),
            errors or DynamoDbErrors(sinks.errors_table, sinks.parked_bucket),
            lease,
        )
        running = replace(query, transform=transform).start(**settings.when())
        lease.keep_for(running)
        return running


def build_query(
    spark: SparkSession,
    settings: ConsumeSettings,
    registries: Registries,
    errors: ErrorSink,
    lease: Fence,
) -> StreamQuery:
    """Return the query for a job's settings; nothing is read yet."""
    return StreamQuery(
        stream=open_stream(spark, settings.kafka, settings.read),
        checkpoint=settings.checkpoint,
        registries=registries,
        sinks=open_sinks(spark, settings.sinks, errors, lease, settings.schemas),
        tombstones=open_tombstones(settings.sinks, errors, lease, settings.schemas),
        errors=errors,
        lease=lease,
        routes=dict(settings.sinks.route),
        watch=partial(KafkaWatch, settings.kafka, settings.read),
        bounded=settings.read.max_offsets_per_trigger is not None,
        service=settings.service,
    )
