"""A streaming query: it writes batches of Kafka records to sinks, and keeps its own state."""

from __future__ import annotations

import atexit
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from typing import Any, Final, Protocol

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from penstock.attempts import Attempts
from penstock.errors import (
    BrokerUnavailableError,
    PenstockError,
    Reason,
    RegistryUnavailableError,
    SinkUnavailableError,
)
from penstock.kafka import KafkaSettings, TopicIds
from penstock.registry import Registries
from penstock.spark.failures import ErrorSink
from penstock.spark.query.batch import Batches, TableSinks
from penstock.spark.query.lines import BatchLines
from penstock.spark.query.record_tables import RecordTables
from penstock.spark.query.record_task import RecordTable
from penstock.spark.query.report import BatchCounts, write_report
from penstock.spark.query.source import read_ranges
from penstock.spark.query.topics import Step, TopicBatches, TopicRoutes
from penstock.spark.query.versions import VersionLookup
from penstock.spark.rows import Fence, Sink
from penstock.spark.settings.consume import ReadSettings
from penstock.spark.state.checkpoint import Checkpoint, check_routes
from penstock.spark.state.checkpoint_writes import checkpoint_without_renames
from penstock.spark.state.lease import NoLease
from penstock.spark.state.losses import LossWatch, OffsetRange
from penstock.spark.state.schema_ledger import Ledger
from penstock.spark.state.topic_watch import TopicWatch
from penstock.tables import BatchId

Transform = Callable[[DataFrame], DataFrame]

_LOG = logging.getLogger(__name__)
_ATTEMPTS: Final = Attempts(first_seconds=1, longest_seconds=15, total_seconds=300)
_OUTAGES: Final = (BrokerUnavailableError, RegistryUnavailableError, SinkUnavailableError)


class Watch(Protocol):
    """Checks each batch before and after it is written."""

    def before(self, records: DataFrame, number: int) -> DataFrame:
        """Return the records to take; raise if the query must stop."""

    def after(self, records: DataFrame, number: int, found: int) -> tuple[OffsetRange, ...]:
        """Return the lost ranges of a written batch, in which `found` records were found."""


class NoWatch:
    """Checks nothing, and accepts every batch."""

    def __init__(self, checkpoint: Checkpoint) -> None: ...

    def before(self, records: DataFrame, number: int) -> DataFrame:
        """Return the records."""
        return records

    def after(self, records: DataFrame, number: int, found: int) -> tuple[OffsetRange, ...]:
        """Return that nothing is lost."""
        return ()


class KafkaWatch:
    """Detects topics that were deleted or recreated, and records that Kafka deleted."""

    def __init__(self, kafka: KafkaSettings, read: ReadSettings, checkpoint: Checkpoint) -> None:
        self._kafka = kafka
        self._read = read
        policy = read.on_lost_offsets
        self._losses = LossWatch(kafka, policy)
        ids = TopicIds(kafka)
        self._topics = TopicWatch(ids, checkpoint, checkpoint.topics, policy, read.topics)
        self._planned: Sequence[OffsetRange] = ()
        self._lost: tuple[OffsetRange, ...] = ()

    def before(self, records: DataFrame, number: int) -> DataFrame:
        """Return the records of the topics that exist.

        Raises:
            LostRecordsError: topics changed so that records are lost, and the policy is to stop.
        """
        changes = self._topics.check(number)
        self._planned, self._lost = changes.planned, changes.lost
        if not changes.gone:
            return records
        return read_ranges(records, self._kafka, self._read, changes.planned)

    def after(self, records: DataFrame, number: int, found: int) -> tuple[OffsetRange, ...]:
        """Return the lost ranges, and store the ids of the topics.

        Raises:
            LostRecordsError: records are lost, and the policy is to stop.
        """
        lost = (*self._lost, *self._losses.check(records, number, self._planned, found))
        self._topics.remember()
        return lost


def retry_outages(
    take: Callable[[], None], attempts: Attempts, is_active: Callable[[], bool]
) -> None:
    """Take a batch; if a service is down, take it again while the query is active.

    Everything that a batch does is idempotent. If the query ended instead, all that Spark has
    compiled would be lost.

    Raises:
        PenstockError: as `take` does; that of an outage after the last attempt.
    """
    outage: PenstockError | None = None
    for _ in attempts:
        if outage is not None and not is_active():
            break
        try:
            return take()
        except _OUTAGES as error:
            _LOG.warning("the batch is taken again: %s", error)
            outage = error
    raise outage or AssertionError("no attempt")


@contextmanager
def keep_records(records: DataFrame, *, few: bool = False) -> Iterator[DataFrame]:
    """Persist the records of a batch in memory and on local disks, so that Kafka is read once.

    Records of an executor that ends are read again; the counts of passes tell if some are missing.
    If there are `few`, each pass has a task for each core, and not for each of Kafka's partitions.
    """
    if few:
        records = records.coalesce(records.sparkSession.sparkContext.defaultParallelism)
    kept = records.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        yield kept
    finally:
        kept.unpersist()


@dataclass(frozen=True, slots=True)
class _TransformedSink:
    """A sink whose rows a function transforms first."""

    sink: Sink
    transform: Transform

    def write(self, rows: DataFrame, batch: BatchId, part: int) -> Mapping[Reason, int]:
        return self.sink.write(self.transform(rows), batch, part)


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamQuery:
    """One query: a stream, a checkpoint, and the sinks that its rows go to.

    A batch that comes again after a crash is split and written as before.

    Attributes:
        stream: records of Spark's Kafka source.
        checkpoint: the folder with the offsets that were read.
        registries: the registries in which schema versions are looked up.
        sinks: sinks for rows; with routes, by schema name or by topic.
        errors: a sink for records that cannot be decoded or written.
        lease: checked before each batch; without one, no other job may use the checkpoint.
        tombstones: sinks for records without a value; with routes by topic, each table has its own.
        routes: tables by schema name; they must not change while a batch is half done.
        transform: a pure function of decoded rows (`penstock.spark.rows`) before every sink; it may
            be called more than once for a batch.
        watch: checks each batch before and after it is written.
        attempts: how long a batch is taken again while a service is down.
        bounded: whether the stream limits the records of a batch. Such a batch is kept by the
            executors while several sinks or tables read it, so Kafka is read once.
        service: the name of the job in its lines, and the dimension of its metrics.
    """

    stream: DataFrame
    checkpoint: str
    registries: Registries
    sinks: Sequence[Sink] | Mapping[str, Sequence[Sink]] | TopicRoutes
    errors: ErrorSink
    tombstones: Sequence[Sink] = ()
    lease: Fence = field(default_factory=NoLease)
    routes: Mapping[str, str] = field(default_factory=dict)
    transform: Transform | None = None
    watch: Callable[[Checkpoint], Watch] = NoWatch
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

        def take(records: DataFrame, number: int) -> None:
            batch = checkpoint.batch_id(number)
            lines.add(batch.query, number, self._take(records, batch, batches, watch))

        def write(records: DataFrame, number: int) -> None:
            def is_active() -> bool:
                query = checkpoint.query_id()
                return any(str(each.id) == query for each in spark.streams.active)

            retry_outages(partial(take, records, number), self.attempts, is_active)

        writer = self.stream.writeStream.foreachBatch(write)
        writer = writer.option("checkpointLocation", self.checkpoint)
        with checkpoint_without_renames(spark, self.checkpoint):
            return (writer.trigger(**trigger) if trigger else writer).start()

    def _take(
        self, records: DataFrame, batch: BatchId, batches: Batches | TopicBatches, watch: Watch
    ) -> BatchCounts:
        """Write a batch and return its counts."""
        self.lease.check()
        is_staged = isinstance(self.sinks, TopicRoutes)
        has_passes = isinstance(self.sinks, Mapping | TopicRoutes) or len(self.sinks) > 1
        keep = partial(keep_records, few=is_staged) if self.bounded and has_passes else nullcontext
        with keep(watch.before(records, batch.number)) as taken:
            done = batches.take(taken, batch)
            return replace(done, lost=watch.after(taken, batch.number, done.records))

    def _open_batches(
        self, spark: SparkSession, checkpoint: Checkpoint, next_batch: int
    ) -> Batches | TopicBatches:
        """Return what takes the batches: one for all records, or one for each table of topics."""
        sinks = self.sinks
        check_routes(checkpoint.routes, checkpoint, next_batch, self._split_by())
        if isinstance(sinks, TopicRoutes):
            ledgers = {
                name: Ledger(spark, f"{checkpoint.ledger}/{name}", next_batch)
                for name in sinks.tables
            }
            return TopicBatches([*self._open_steps(spark, sinks, ledgers)], sinks.find)
        table = TableSinks(sinks, self.tombstones)
        return self._open_table(spark, Ledger(spark, checkpoint.ledger, next_batch), table)

    def _open_steps(
        self, spark: SparkSession, routes: TopicRoutes, ledgers: Mapping[str, Ledger]
    ) -> Iterator[Step]:
        """Yield the steps of a batch; record tables are one, and drivers among them another."""
        for _, group in groupby(routes.tables.items(), lambda each: _step_of(each[1])):
            items = dict(group)
            if others := {name: t for name, t in items.items() if isinstance(t, TableSinks)}:
                for name, each in others.items():
                    yield name, self._open_table(spark, ledgers[name], each)
                continue
            tables = {name: each for name, each in items.items() if isinstance(each, RecordTable)}
            lookups = {
                name: VersionLookup(spark, self.registries, ledgers[name], columns=each.columns)
                for name, each in tables.items()
            }
            framing = self.registries.framing
            yield RecordTables(tables, lookups, framing, self.errors, self.lease)

    def _split_by(self) -> dict[str, str]:
        """Return what divides a batch into parts besides the ledger."""
        routes = self.sinks.topics if isinstance(self.sinks, TopicRoutes) else self.routes
        unframed = self.registries.framing.unframed.items()
        return {**routes, **{f"unframed {topic}": str(key) for topic, key in unframed}}

    def _open_table(self, spark: SparkSession, ledger: Ledger, table: TableSinks) -> Batches:
        sinks: Sequence[Sink] | Mapping[str, Sequence[Sink]] = (
            {name: self._wrap(each) for name, each in table.sinks.items()}
            if isinstance(table.sinks, Mapping)
            else self._wrap(table.sinks)
        )
        return Batches(spark, self.registries, ledger, replace(table, sinks=sinks), self.errors)

    def _wrap(self, sinks: Sequence[Sink]) -> Sequence[Sink]:
        if self.transform is None:
            return sinks
        return [_TransformedSink(each, self.transform) for each in sinks]


def _step_of(table: TableSinks | RecordTable) -> tuple[type, bool]:
    """Return what tables that follow each other have in common if they are one step."""
    return type(table), isinstance(table, RecordTable) and table.is_driver
