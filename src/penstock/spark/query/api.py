"""Functions for your own jobs and notebooks; examples/ has a runnable one for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from penstock.consuming import ErrorSink
from penstock.errors import Failure, Reason
from penstock.framing import SchemaKey
from penstock.registry import Registries, SchemaVersion
from penstock.spark.decoding.admission import admit_versions, find_versions
from penstock.spark.decoding.decoder import Decoder
from penstock.spark.decoding.frames import RowStatus, split_frames
from penstock.spark.failures import DynamoDbErrors, LoggedErrors
from penstock.spark.query.parts import FRAMED
from penstock.spark.query.settings import ConsumeSettings
from penstock.spark.query.source import open_stream
from penstock.spark.query.stream import KafkaWatch, StreamQuery
from penstock.spark.query.transform import load_transform
from penstock.spark.rows import EVENT, Fence
from penstock.spark.settings.consume import StreamSettings
from penstock.spark.sinks.base import Part, Sink, SinkContext
from penstock.spark.sinks.table import Table
from penstock.spark.state.lease import claim_checkpoint
from penstock.tables import BatchId

STATUS = "_status"
REASON = "_reason"


def decode(records: DataFrame, registries: Registries) -> DataFrame:
    """Decode a batch of Kafka records of any schema versions.

    Every record has a row, with the columns of `penstock.spark.rows` and `_status`: `decoded`,
    `tombstone`, `unknown` for a version that cannot be used, or the `Reason` why the record cannot
    be read. `event` is null unless the status is `decoded`. The records are read twice, first for
    schema ids.

    `_reason` says why a version is `unknown`, as a dead letter would: its `Reason` and the detail,
    such as `unknown-schema: ...` (the registry has no such version), `forbidden-schema: ...` (the
    URL does not allow it), `refused-schema: ...` or `recursive-schema: ...` (its definition is
    damaged or dangerous), `schema-conflict: ...` (it contradicts the versions that were chosen).

    The versions of one batch have one `event`. If the batch has several schemas that contradict
    each other, the one with the most records is chosen, among equals the first by name; its older
    versions come first. Decode topics of several schemas by schema, or use a job with routes.

    Args:
        records: rows of Spark's Kafka source, or a table with its columns.
        registries: the registries in which versions are looked up.

    Raises:
        RegistryError: a registry cannot answer now (retriable).
    """
    frames = split_frames(records, registries.framing)
    counted = frames.filter(FRAMED).groupBy("schema").count().collect()
    counts = {SchemaKey.unpack(bytes(row.schema)): row["count"] for row in counted}
    versions, refused = _choose_versions(registries, counts)
    decoder = Decoder(frames.sparkSession, versions)
    decoded = decoder.decode(_add_reasons(frames, refused))
    status = F.col("status").alias(STATUS)
    is_unknown = F.col("status") == RowStatus.UNKNOWN.value
    rows = decoder.project(decoded, status, F.when(is_unknown, F.col(REASON)).alias(REASON))
    is_decoded = F.col(STATUS) == RowStatus.DECODED.value
    return rows.withColumn(EVENT, F.when(is_decoded, F.col(EVENT)))


def _choose_versions(
    registries: Registries, counts: Mapping[SchemaKey, int]
) -> tuple[list[SchemaVersion], dict[SchemaKey, Failure]]:
    """Return the versions that fit together, and why others are refused."""
    found, refused = find_versions(registries, sorted(counts, key=str))
    records: Counter[str] = Counter()
    for each in found:
        records[each.name] += counts[each.key]
    versions: list[SchemaVersion] = []
    for name in sorted(records, key=lambda name: (-records[name], name)):
        admitted, others = admit_versions([each for each in found if each.name == name], versions)
        versions += admitted
        refused |= others
    return versions, refused


def _add_reasons(frames: DataFrame, refused: Mapping[SchemaKey, Failure]) -> DataFrame:
    """Add the reason why the version of a frame is refused, or null."""
    rows = [(each.pack(), f"{why.reason}: {why.detail}") for each, why in refused.items()]
    reasons = frames.sparkSession.createDataFrame(rows, f"schema binary, {REASON} string")
    return frames.join(F.broadcast(reasons), "schema", "left")


@dataclass(frozen=True, slots=True)
class _Function(Sink):
    """A sink that calls a function."""

    function: Callable[[DataFrame, BatchId, int], None]

    def write(self, rows: DataFrame, part: Part) -> Mapping[Reason, int]:
        self.function(rows, part.batch, part.number)
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
        checkpoint: a folder that only this query uses.
        write: called with the rows of each part of a batch (`penstock.spark.rows`), at least once;
            after a crash it is called again with the same rows, batch and part. Each read of them
            reads Kafka, and only the first is compared with other passes: cache them for more.
        errors: a sink for records that cannot be decoded, which the driver and executors call;
            without it they are logged.
        trigger: arguments of Spark's `trigger`, such as `availableNow=True`.

    Raises:
        CheckpointError: a file of the checkpoint is damaged.
    """
    return StreamQuery(
        stream=stream,
        checkpoint=checkpoint,
        registries=registries,
        tables=[Table((_Function(write),))],
        errors=errors or LoggedErrors(),
    ).start(**trigger)


def start_consuming(
    spark: SparkSession,
    settings: ConsumeSettings,
    *,
    registries: Registries | None = None,
    errors: ErrorSink | None = None,
) -> StreamingQuery:
    """Start the query of `jobs/consume.py`, and hold the lease of its checkpoint until it ends.

    Args:
        spark: a session from `build_session`.
        settings: the settings of the job.
        registries: used in place of those that the settings name, except for the schemas of keys.
        errors: used in place of the dead-letter table that the settings name.

    Raises:
        CheckpointInUseError: another job holds the lease.
        CheckpointError: a file of the checkpoint is damaged.
    """
    sinks = settings.sinks

    def build(lease: Fence) -> StreamQuery:
        return build_query(
            spark,
            settings,
            registries or settings.schemas.load(),
            errors or DynamoDbErrors(sinks.errors_table, sinks.parked_bucket),
            lease,
        )

    return start_job(spark, settings, sinks.errors_table, build)


def start_job(
    spark: SparkSession,
    settings: StreamSettings,
    errors_table: str,
    build: Callable[[Fence], StreamQuery],
) -> StreamingQuery:
    """Start the query that `build` returns, and hold the lease of its checkpoint until it ends.

    Raises:
        CheckpointInUseError: another job holds the lease.
        CheckpointError: a file of the checkpoint is damaged.
    """
    with claim_checkpoint(spark, settings.checkpoint, errors_table, settings.lease) as lease:
        running = build(lease).start(**settings.when())
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
        stream=open_stream(spark, settings.kafka, settings.read, may_stop=False),
        checkpoint=settings.checkpoint,
        registries=registries,
        tables=settings.sinks.open_tables(SinkContext(spark, errors, lease, settings.schemas)),
        errors=errors,
        lease=lease,
        transform=load_transform(spark, settings.sinks.transform),
        watch=partial(KafkaWatch, settings.kafka, settings.read),
        bounded=settings.read.max_offsets_per_trigger is not None,
        service=settings.service,
    )
