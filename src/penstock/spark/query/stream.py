"""A streaming query: it writes batches of Kafka records to sinks, and keeps its own state."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from penstock.attempts import Attempts
from penstock.consuming import ErrorSink
from penstock.kafka import KafkaSettings, TopicIds
from penstock.registry import Registries
from penstock.spark.query.lines import BatchLines
from penstock.spark.query.outages import is_stop, retry_outages
from penstock.spark.query.parts import BatchContext
from penstock.spark.query.report import BatchCounts, write_failure, write_report
from penstock.spark.query.source import read_ranges
from penstock.spark.query.table_batches import TableBatches
from penstock.spark.query.transform import Transform
from penstock.spark.rows import Fence
from penstock.spark.settings.consume import ReadSettings
from penstock.spark.sinks.table import Table, describe_routes
from penstock.spark.state.checkpoint import Checkpoint, check_routes
from penstock.spark.state.checkpoint_writes import checkpoint_without_renames
from penstock.spark.state.lease import NoLease
from penstock.spark.state.losses import LossWatch, OffsetRange, take_removed
from penstock.spark.state.schema_ledger import Ledger
from penstock.spark.state.topic_watch import TopicChanges, TopicWatch
from penstock.tables import BatchId

_ATTEMPTS: Final = Attempts(first_seconds=1, longest_seconds=15, total_seconds=300)


class Watch:
    """Checks each batch before and after it is written; this one accepts all."""

    def before(self, records: DataFrame, number: int) -> DataFrame:
        """Return the records to write; raise if the query must stop."""
        return records

    def after(self, records: DataFrame, number: int, found: int) -> tuple[OffsetRange, ...]:
        """Return the lost ranges of a written batch, in which `found` records were found."""
        return ()


class KafkaWatch(Watch):
    """Detects topics that were deleted or recreated, and records that Kafka deleted.

    If `needs_first` is set, also those that it deleted before a topic came to the query.
    """

    def __init__(
        self,
        kafka: KafkaSettings,
        read: ReadSettings,
        checkpoint: Checkpoint,
        *,
        needs_first: bool = False,
    ) -> None:
        self._kafka = kafka
        self._read = read
        self._needs_first = needs_first
        policy = read.on_lost_offsets
        self._losses = LossWatch(policy)
        ids = TopicIds(kafka)
        self._topics = TopicWatch(ids, checkpoint, checkpoint.topics, policy, read.topics)
        self._changes = TopicChanges()

    def before(self, records: DataFrame, number: int) -> DataFrame:
        """Return the records that are to be read, of the topics that exist.

        Raises:
            LostRecordsError: topics changed so that records are lost, and the policy is to stop.
        """
        changes = self._topics.check(number)
        if changes.new and not self._needs_first:
            new = [each for each in changes.planned if each.topic in changes.new]
            changes = self._topics.begin(changes, take_removed(records.sparkSession, new))
        self._changes = changes
        if not changes.replanned:
            return records
        return read_ranges(records, self._kafka, self._read, changes.planned)

    def after(self, records: DataFrame, number: int, found: int) -> tuple[OffsetRange, ...]:
        """Return the lost ranges, and store the ids of the topics.

        Raises:
            LostRecordsError: records are lost, and the policy is to stop.
        """
        spark, changes = records.sparkSession, self._changes
        lost = self._losses.check(spark, number, changes.planned, found)
        self._topics.remember()
        return (*changes.lost, *lost)


@contextmanager
def keep_records(records: DataFrame, *, few: bool = False) -> Iterator[DataFrame]:
    """Persist the records of a batch in memory and on local disks, so that Kafka is read once.

    Records of an executor that ends are read again; the counts of passes tell if some are missing.
    If there are `few`, each pass has a task for each core that the job may have, and not for each
    of Kafka's partitions.
    """
    if few:
        records = records.coalesce(records.sparkSession.sparkContext.defaultParallelism)
    kept = records.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        yield kept
    finally:
        kept.unpersist()


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamQuery:
    """One query: a stream, a checkpoint, and the tables that its rows go to.

    A batch that comes again after a crash is split and written as before.

    Attributes:
        stream: records of Spark's Kafka source.
        checkpoint: the folder with the offsets that were read.
        registries: the registries in which schema versions are looked up.
        tables: where the rows go; their routes must not change while a batch is half done.
        errors: a sink for records that cannot be decoded or written.
        lease: sinks are written to only while it is held; without one, no other job may use the
            checkpoint.
        transform: a pure function of decoded rows (`penstock.spark.rows`) before every sink; it may
            be called more than once for a batch. It may leave rows out, and keeps raw records.
        watch: checks each batch before and after it is written.
        attempts: how long a batch is written again while a service is down.
        bounded: whether the stream limits the records of a batch. Such a batch is kept by the
            executors while several sinks or tables read it, so Kafka is read once.
        service: the name of the job in its lines, and the dimension of its metrics.
    """

    stream: DataFrame
    checkpoint: str
    registries: Registries
    tables: Sequence[Table]
    errors: ErrorSink
    lease: Fence = field(default_factory=NoLease)
    transform: Transform | None = None
    watch: Callable[[Checkpoint], Watch] = lambda _checkpoint: Watch()
    attempts: Attempts = _ATTEMPTS
    bounded: bool = False
    service: str = "consume"

    def start(self, **trigger: Any) -> StreamingQuery:
        """Start the query, which runs in the background.

        Args:
            trigger: arguments of Spark's `trigger`, such as `availableNow=True`.

        Raises:
            CheckpointError: a file of the checkpoint is damaged.
        """
        spark = self.stream.sparkSession
        checkpoint = Checkpoint(spark, self.checkpoint)
        batches = self._open_batches(spark, checkpoint, checkpoint.check())
        watch = self.watch(checkpoint)
        lines = BatchLines(spark, partial(write_report, self.service))
        # A driver that ends must not end before the line of its last batch.
        atexit.register(lines.wait)

        def write_batch(records: DataFrame, number: int) -> None:
            batch = checkpoint.batch_id(number)
            lines.add(batch.query, number, self._write_batch(records, batch, batches, watch))

        def is_active(number: int) -> bool:
            query = checkpoint.batch_id(number).query
            return any(str(each.id) == query for each in spark.streams.active)

        def write(records: DataFrame, number: int) -> None:
            write_once = partial(write_batch, records, number)
            try:
                retry_outages(write_once, self.attempts, partial(is_active, number))
            except Exception as error:
                if not is_stop(error):
                    print(write_failure(self.service, number, error), flush=True)
                raise

        writer = self.stream.writeStream.foreachBatch(write)
        writer = writer.option("checkpointLocation", self.checkpoint)
        with checkpoint_without_renames(spark, self.checkpoint):
            return (writer.trigger(**trigger) if trigger else writer).start()

    def _write_batch(
        self, records: DataFrame, batch: BatchId, batches: TableBatches, watch: Watch
    ) -> BatchCounts:
        """Write a batch and return its counts."""
        self.lease.check()
        is_by_topic = any(each.route.by_topic for each in self.tables)
        has_passes = is_by_topic or len(self.tables) > 1 or len(self.tables[0].sinks) > 1
        keeps = self.bounded and has_passes and not batches.reads_once
        keep = partial(keep_records, few=is_by_topic) if keeps else nullcontext
        with keep(watch.before(records, batch.number)) as kept:
            done = batches.write_batch(kept, batch)
            return replace(done, lost=watch.after(kept, batch.number, done.records))

    def _open_batches(
        self, spark: SparkSession, checkpoint: Checkpoint, next_batch: int
    ) -> TableBatches:
        unframed = self.registries.framing.unframed.items()
        split_by = describe_routes(self.tables)
        split_by |= {f"unframed {topic}": str(key) for topic, key in unframed}
        check_routes(checkpoint.routes, checkpoint, next_batch, split_by)
        checkpoint.check_ledger()

        def open_ledger(name: str) -> Ledger:
            folder = f"{checkpoint.ledger}/{name}" if name else checkpoint.ledger
            return Ledger(spark, folder, next_batch)

        context = BatchContext(self.registries, self.errors, self.lease, self.transform)
        return TableBatches(self.tables, open_ledger, context)
