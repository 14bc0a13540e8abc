"""Write the records of many DynamoDB tables in one Spark job, decoded by our own codec.

Spark's cost of a table (plan, job, counts) does not depend on its records, and DynamoDB's rows are
made in Python anyway. So each record of a batch is decoded where its row is made, by the code that
the Lambda function uses (docs/adr/20261122-one-job-for-dynamodb-tables.md).

The first pass writes the records of known versions and returns the keys of unknown ones. These are
looked up and written to the ledger; then a pass over the tables that have them takes their records.
So a batch that comes again is split as before.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from penstock.framing import Framing, SchemaKey
from penstock.registry import SchemaVersion
from penstock.schemas import merge_schemas
from penstock.spark.failures import ErrorSink, run_task
from penstock.spark.query.batch import count_batch
from penstock.spark.query.parts import Figures
from penstock.spark.query.record_task import (
    RecordTable,
    ReleaseRows,
    Tally,
    TaskTable,
    WriteRecords,
)
from penstock.spark.query.report import BatchCounts
from penstock.spark.query.versions import IDS_AT_ONCE, BatchVersions, VersionLookup
from penstock.spark.rows import Fence
from penstock.tables import BatchId

_COLUMNS: Final = (
    *("topic", "partition", "offset", "key", "value"),
    "unix_millis(timestamp) AS timestamp_ms",
)


@dataclass(slots=True)
class _TableBatch:
    """The batch of one table: its topics, versions and counts, and what is left to do.

    `unknown` has the keys to look up, `awaited` the names of rows that others wait for.
    """

    topics: Sequence[str]
    versions: BatchVersions
    figures: Figures = field(default_factory=Figures)
    unknown: Counter[SchemaKey] = field(default_factory=Counter)
    awaited: set[str] = field(default_factory=set)


class RecordTables:
    """Takes the batches of one query for several DynamoDB tables."""

    def __init__(
        self,
        tables: Mapping[str, RecordTable],
        lookups: Mapping[str, VersionLookup],
        framing: Framing,
        errors: ErrorSink,
        lease: Fence,
    ) -> None:
        self._tables = tables
        self._lookups = lookups
        self._framing = framing
        self._errors = errors
        self._lease = lease
        self._decoding: dict[str, _Decoding] = {}

    def take(
        self, records: DataFrame, batch: BatchId, topics: Mapping[str, Sequence[str]]
    ) -> dict[str, BatchCounts]:
        """Write the records of a batch for each table that has topics in it; idempotent.

        Raises:
            LostRecordsError: Kafka deleted records of the batch while it was written.
            PenstockError: it is retriable, or not the fault of a record. Take the batch again.
        """
        taken = {
            name: _TableBatch(topics[name], lookup.open(batch))
            for name, lookup in self._lookups.items()
            if name in topics
        }
        wanted = taken
        while wanted:
            self._write(records, wanted)
            wanted = dict(self._look_up(taken))
        self._release(records.sparkSession, taken)
        for each in taken.values():
            each.figures.check(batch)
        return {
            name: count_batch(each.figures.records, each.figures, each.versions)
            for name, each in taken.items()
        }

    def _release(self, spark: SparkSession, taken: Mapping[str, _TableBatch]) -> None:
        """Release what waits for staged rows, when all tables have theirs."""
        awaited = [(name, row) for name, each in taken.items() for row in each.awaited]
        if not awaited:
            return
        followers = {name: self._tables[name].follower for name in taken}
        self._lease.check()
        rows = spark.createDataFrame(sorted(awaited), "table string, row string")
        found: dict[str, Counter[Any]] = {name: Counter() for name, _ in awaited}
        for name, counts in run_task(rows, ReleaseRows(followers)):
            found[name].update(counts)
        self._lease.check()
        for name, counts in found.items():
            if follower := followers[name]:
                taken[name].figures.refuse(follower.report(counts))

    def _look_up(self, taken: Mapping[str, _TableBatch]) -> Iterator[tuple[str, _TableBatch]]:
        """Yield the tables whose unknown versions have an answer now."""
        for name, each in taken.items():
            if not each.unknown or each.versions.is_answered:
                continue
            lookup = self._lookups[name]
            earlier = lookup.earlier(each.versions)[len(each.versions.lookups) :]
            keys = [key for key, _ in each.unknown.most_common(IDS_AT_ONCE)]
            each.versions.lookups.append(
                earlier[0] if earlier else lookup.look_up(each.versions, keys)
            )
            yield name, each

    def _write(self, records: DataFrame, taken: Mapping[str, _TableBatch]) -> None:
        """Write the records that the last lookups decide about, or those of known versions."""
        self._lease.check()
        by_topic = {topic: name for name, each in taken.items() for topic in each.topics}
        wanted = F.col("topic").isin(list(by_topic))
        more = {"headers"} & set(records.columns)
        chosen = records.filter(wanted).selectExpr(*_COLUMNS, *more)
        tables = {name: self._describe(name, each) for name, each in taken.items()}
        if any(each.table.rows_per_second for each in tables.values()):
            # More tasks than these cannot run at once, even if executors are added meanwhile.
            chosen = chosen.coalesce(records.sparkSession.sparkContext.defaultParallelism)
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        tasks = chosen.rdd.getNumPartitions()
        write = WriteRecords(by_topic, tables, self._framing, self._errors, now, tasks)
        found: dict[str, Tally] = {name: Tally() for name in taken}
        for tallies in run_task(chosen, write):
            for name, tally in tallies.items():
                found[name].add(tally)
        # The driver may have stalled; without the lease it must not continue.
        self._lease.check()
        for name, each in taken.items():
            self._add(name, each, found[name])

    def _describe(self, name: str, taken: _TableBatch) -> TaskTable:
        versions = taken.versions.all()
        if name not in self._decoding or self._decoding[name].versions != versions:
            self._decoding[name] = _Decoding.of(versions)
        decided = None
        last = taken.versions.lookups[-1] if taken.versions.lookups else None
        if last is not None:
            own = {*(each.key for each in last.versions), *last.refused}
            decided = frozenset(taken.versions.answered()) - own
        return TaskTable(
            self._tables[name],
            self._decoding[name].texts,
            self._decoding[name].merged,
            dict(last.refused) if last else {},
            last.others if last else None,
            decided,
        )

    def _add(self, name: str, taken: _TableBatch, tally: Tally) -> None:
        """Add the counts of a pass."""
        taken.unknown = tally.unknown
        taken.awaited |= tally.awaited
        taken.figures.add(tally.counts)
        taken.figures.file(tally.filed)
        if follower := self._tables[name].follower:
            taken.figures.refuse(follower.report(tally.followed))


@dataclass(frozen=True, slots=True)
class _Decoding:
    """The versions of a table, for executors to decode."""

    versions: tuple[SchemaVersion, ...]
    texts: Mapping[SchemaKey, tuple[str, int]]
    merged: str

    @classmethod
    def of(cls, versions: tuple[SchemaVersion, ...]) -> _Decoding:
        """Write the schemas of versions, and their merge."""
        schemas = [each.schema for each in versions]
        texts = {each.key: (json.dumps(each.schema), each.number) for each in versions}
        return cls(versions, texts, json.dumps(merge_schemas(schemas)) if schemas else "")
