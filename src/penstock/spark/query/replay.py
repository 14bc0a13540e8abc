"""Retry the records of a dead-letter table with the consumer's code, and mark the outcome.

A row is marked as done, failed again or parked when its batch is over. Nothing is marked before
that, so a replay that was killed is simply started again: sinks for replayed records skip records
that they have.
"""

from __future__ import annotations

import logging
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from itertools import chain
from typing import Any, Final

from pyspark.sql import SparkSession

from penstock.errors import Failure, Reason
from penstock.records import FailedRecord, Record
from penstock.registry import Registries
from penstock.sinks import (
    DeadLetter,
    DynamoDbClient,
    ErrorTable,
    ObjectStore,
    ParkedRecords,
    Selection,
)
from penstock.spark.query.parts import BatchContext
from penstock.spark.query.settings import ReplaySettings
from penstock.spark.query.table_batches import TableBatches
from penstock.spark.query.transform import load_transform
from penstock.spark.rows import LAST_MILLISECOND, Fence
from penstock.spark.sinks.base import SinkContext
from penstock.spark.state.checkpoint import Checkpoint
from penstock.spark.state.lease import Lease
from penstock.spark.state.schema_ledger import Ledger, Lookup, Lookups
from penstock.tables import BatchId

_LOG = logging.getLogger(__name__)

Ends = Mapping[tuple[str, int], int]

_RECORDS_AT_ONCE: Final = 500
_BYTES_AT_ONCE: Final = 32 * 2**20
_KAFKA: Final = (
    "key binary, value binary, topic string, partition int, offset bigint, timestamp bigint,"
    " headers array<struct<key: string, value: binary>>"
)


@dataclass(frozen=True, slots=True)
class FailedAgain:
    """The error sink of a replay: it counts the failed attempt in the record's selected rows."""

    table: str
    replay: str
    selection: Selection

    def keep(self, records: Sequence[FailedRecord]) -> None:
        """Count one attempt of each record, however often it is reported."""
        _connect(self.table).count_failures(records, self.replay, self.selection)


@cache
def _connect(table: str) -> ErrorTable:
    """Connect once per Python process, which runs one task at a time."""
    return ErrorTable(DynamoDbClient(), table, ObjectStore(""))


@dataclass(slots=True)
class ReplayCounts:
    """The number of dead letters that a replay selected, by their outcome.

    `waiting` and `unread` were not selected: the consuming job has not read so far in a partition,
    or its checkpoint has no partition of the topic.
    """

    selected: int = 0
    waiting: int = 0
    unread: int = 0
    lost: int = 0
    done: int = 0
    failed: int = 0
    parked: int = 0
    errors: Counter[str] = field(default_factory=Counter)

    def to_values(self) -> dict[str, Any]:
        """Return values for JSON; `asdict` would make a counter of pairs."""
        return {**asdict(self), "errors": dict(self.errors)}


class Replay:
    """One replay, which tries each record once; no other replay may run at the same time."""

    def __init__(
        self,
        spark: SparkSession,
        name: str,
        rows: ErrorTable,
        batches: TableBatches,
        parked: ParkedRecords,
    ) -> None:
        self._spark = spark
        self._name = name
        self._rows = rows
        self._batches = batches
        self._parked = parked

    def run(self, selection: Selection, ends: Ends | None = None) -> ReplayCounts:
        """Retry the records that are selected now.

        `ends` are the offsets that the consuming job has read up to. Records at or after them wait
        for the job: it may still write them, and it checks a table for batches, not for records.
        So do those of topics that it does not read, since it may read them from their start later.

        Raises:
            PenstockError: it is retriable, or not the fault of a record. Records without a mark are
                to be retried.
        """
        counts = ReplayCounts()
        unread: Counter[str] = Counter()
        matches = _match_read(selection, ends, counts, unread)

        def is_left(record: DeadLetter) -> bool:
            """Return whether this replay has not tried the record, or has yet to park it."""
            return matches(record) and (record.replay != self._name or record.is_spent)

        ids = self._rows.find(selection)
        found = chain.from_iterable(self._rows.read(some, is_left) for some in ids)
        for number, batch in enumerate(_in_batches(_leave_lost(found, counts))):
            counts.selected += len(batch)
            # An earlier replay was killed before it parked these.
            spent = [record for record in batch if record.is_spent]
            fresh = [record for record in batch if not record.is_spent]
            done, failed = self._try(number, fresh, selection)
            counts.done += done
            counts.failed += len(failed)
            counts.errors.update(record.reason for record in failed)
            spent += [record for record in failed if record.is_spent and not record.lost]
            counts.parked += self._park(number, spent)
        counts.unread = _log_unread(unread)
        return counts

    def _try(
        self, number: int, records: Sequence[DeadLetter], selection: Selection
    ) -> tuple[int, list[DeadLetter]]:
        """Write and mark records; return the number that are done, and the rows of the failed."""
        if not records:
            return 0, []
        # A record has a row of each owner that gave it up.
        written_once = {(each.source, each.kafka_timestamp_ms): each for each in records}
        rows = [
            (
                each.key,
                each.value,
                *_read_position(each),
                each.kafka_timestamp_ms,
                list(each.headers),
            )
            for each in written_once.values()
        ]
        # Kafka accepts timestamps that neither Python's datetime nor Spark can hold.
        written = f"timestamp_millis(LEAST(timestamp, {LAST_MILLISECOND})) AS timestamp"
        batch = self._spark.createDataFrame(rows, _KAFKA).selectExpr(
            "* EXCEPT (timestamp)", written
        )
        self._batches.write_batch(batch, BatchId(self._name, number))
        if not self._batches.deletes:  # the batch only counts tombstones
            refused = [_fail_tombstone(each) for each in records if each.value is None]
            self._rows.count_failures(refused, self._name, selection)
        marks = self._rows.mark_all_done(records, self._name)
        left = [each.id for each, is_done in zip(records, marks, strict=True) if not is_done]
        found = list(self._rows.read(left))  # without rows deleted meanwhile
        failed = [row for row in found if row.replay == self._name and not row.settled]
        return len(records) - len(left) + sum(row.settled for row in found), failed

    def _park(self, number: int, records: Sequence[DeadLetter]) -> int:
        """Park records; return the number whose rows still exist and were marked."""
        places = self._parked.park(records, f"{self._name}-{number}")
        return sum(self._rows.mark_all_parked(records, places, self._name))


def _fail_tombstone(row: DeadLetter) -> FailedRecord:
    record = Record(row.source, row.key, None, row.headers, row.kafka_timestamp_ms)
    detail = f"{row.source}: found a tombstone, expected a value: its tables delete no row"
    return FailedRecord.of(record, Failure(Reason.UNROUTABLE, detail), None, row.stage)


def _read_position(record: DeadLetter) -> tuple[str, int, int]:
    return record.source.topic, record.source.partition, record.source.offset


def _match_read(
    selection: Selection, ends: Ends | None, counts: ReplayCounts, unread: Counter[str]
) -> Callable[[DeadLetter], bool]:
    """Return whether a selected record was read by the job; this counts those that were not."""
    topics = {topic for topic, _ in ends} if ends else set()

    def matches(record: DeadLetter) -> bool:
        if not selection.matches(record):
            return False
        is_read = ends is None or _is_before(ends, record)
        # No topic is known before the job's first batch.
        if topics and record.source.topic not in topics:
            unread[record.source.topic] += 1
        else:
            counts.waiting += not is_read
        return is_read

    return matches


def _is_before(ends: Ends, record: DeadLetter) -> bool:
    topic, partition, offset = _read_position(record)
    return offset < ends.get((topic, partition), 0)


def _log_unread(unread: Counter[str]) -> int:
    """Log the topics that the job does not read; return the number of their records."""
    for topic, number in sorted(unread.items()):
        _LOG.warning(
            "%d dead letters of the topic %s cannot be tried again: the checkpoint of the job has "
            "no partition of it; if the job reads it, wait for its next batch, else add it to the "
            "topics of the job, or delete the rows",
            number,
            topic,
        )
    return unread.total()


def _leave_lost(records: Iterable[DeadLetter], counts: ReplayCounts) -> Iterator[DeadLetter]:
    """Yield the records whose bytes exist; count and log the others."""
    for record in records:
        if not record.lost:
            yield record
            continue
        counts.lost += 1
        _LOG.warning(
            "the row %s cannot be tried again: %s, expected what the row has no room for; bring "
            "the object back, or delete the row",
            record.id,
            record.lost,
        )


def _in_batches(records: Iterable[DeadLetter]) -> Iterator[list[DeadLetter]]:
    """Yield lists of records that fit in the driver's memory."""
    batch: list[DeadLetter] = []
    size = 0
    for record in records:
        batch.append(record)
        size += record.size
        if len(batch) >= _RECORDS_AT_ONCE or size >= _BYTES_AT_ONCE:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def run_replay(
    spark: SparkSession, settings: ReplaySettings, registries: Registries, name: str
) -> ReplayCounts:
    """Retry the selected records, as far as the consuming job has read.

    Raises:
        CheckpointInUseError: another replay is running.
    """
    with Lease.claim(settings.sinks.errors_table, "replay", settings.lease) as lease:
        folder = settings.consume_checkpoint
        checkpoint = Checkpoint(spark, folder) if folder else None
        selection = settings.selection.select(int(time.time()))
        failed = FailedAgain(settings.sinks.errors_table, name, selection)
        replay = _build(spark, settings, registries, lease, failed)
        ends = checkpoint.read_so_far() if checkpoint else None
        return replay.run(selection, ends)


def _build(
    spark: SparkSession,
    settings: ReplaySettings,
    registries: Registries,
    lease: Fence,
    failed: FailedAgain,
) -> Replay:
    sinks = settings.sinks
    opened = SinkContext(spark, failed, lease, settings.schemas)
    tables = sinks.open_tables(opened, replayed=True)
    # A failure counts as an attempt, so no record may fail for the ids of others.
    transform = load_transform(spark, sinks.transform)
    context = BatchContext(registries, failed, lease, transform, asks_all=True)
    store = ObjectStore(sinks.parked_bucket)
    days = settings.keep_settled_days
    lookups = _recall(spark, settings.consume_checkpoint)
    return Replay(
        spark,
        failed.replay,
        ErrorTable(DynamoDbClient(), sinks.errors_table, store, keep_days=days),
        TableBatches(tables, lambda _: lookups, context),
        ParkedRecords(store),
    )


def _recall(spark: SparkSession, folder: str) -> Lookups:
    """Return the versions that the consuming job knows; the lake's columns come from them."""
    lookups = Lookups()
    ledger = Ledger(spark, Checkpoint(spark, folder).ledger) if folder else lookups
    # Two replays of the same records write the same parts, whatever batches they had before.
    lookups.add(Lookup(-1, 0, ledger.before(sys.maxsize)))
    return lookups
