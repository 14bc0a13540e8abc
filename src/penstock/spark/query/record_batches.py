"""Take the batches of tables whose sinks read records, all in one Spark job.

Spark's cost of a table (plan, job, counts) does not depend on its records, and rows of DynamoDB are
made in Python anyway (docs/adr/0011-one-way-for-a-record.md).

The first pass writes the records of known versions and returns the keys of unknown ones. These are
looked up and written to the ledger; then a pass over the tables that have them takes their records.
So a batch that comes again is split as before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from penstock.consuming import KnownSchemas, Written
from penstock.framing import SchemaKey
from penstock.records import Ignored
from penstock.registry import SchemaVersion
from penstock.spark.query.batch import count_batch, format_now, make_lookups
from penstock.spark.query.parts import BatchContext, Figures
from penstock.spark.query.report import BatchCounts
from penstock.spark.query.versions import IDS_AT_ONCE, BatchVersions
from penstock.spark.rows import select_records, while_held
from penstock.spark.sinks.records import (
    RecordSink,
    RecordTables,
    describe_versions,
    release_rows,
    write_records,
)
from penstock.spark.sinks.table import TableGroup
from penstock.spark.state.schema_ledger import Lookups
from penstock.tables import BatchId


@dataclass(slots=True)
class _GroupBatch:
    """The batch of one group: its topics, versions, counts and unfinished work.

    `unknown` has the keys to look up, `awaited` the names of rows that others wait for.
    """

    topics: Sequence[str]
    versions: BatchVersions
    figures: Figures = field(default_factory=Figures)
    unknown: Counter[SchemaKey] = field(default_factory=Counter)
    awaited: set[str] = field(default_factory=set)

    def find_keys(self) -> list[SchemaKey]:
        """Return the unknown schema keys, most frequent first, at most `IDS_AT_ONCE` of them."""
        return [key for key, _ in self.unknown.most_common(IDS_AT_ONCE)]


class RecordBatches:
    """Takes the batches of one query for several groups of tables."""

    def __init__(
        self,
        groups: Mapping[str, TableGroup],
        ledgers: Mapping[str, Lookups],
        context: BatchContext,
    ) -> None:
        self._sinks = {
            name: {
                schema: cast("RecordSink", table.sinks[0]) for schema, table in group.tables.items()
            }
            for name, group in groups.items()
        }
        self._lookups = make_lookups(groups, ledgers, context)
        self._framing = context.registries.framing
        self._lease = context.lease
        self._described: dict[str, tuple[tuple[SchemaVersion, ...], KnownSchemas]] = {}

    def write_batch(
        self, records: DataFrame, batch: BatchId, topics: Mapping[str, Sequence[str]]
    ) -> dict[str, BatchCounts]:
        """Write the records of a batch for each group that has topics in it; idempotent.

        Raises:
            LostRecordsError: Kafka deleted records of the batch while it was written.
            PenstockError: it is retriable, or not the fault of a record. Write the batch again.
        """
        groups = {
            name: _GroupBatch(topics[name], lookup.open(batch))
            for name, lookup in self._lookups.items()
            if name in topics
        }
        constant = format_now()
        wanted = groups
        while wanted:
            self._write_records(records, wanted, constant)
            wanted = dict(self._look_up(groups))
        self._release(records, groups)
        return {name: count_batch(each.figures, each.versions) for name, each in groups.items()}

    def _release(self, records: DataFrame, groups: Mapping[str, _GroupBatch]) -> None:
        """Release the rows that wait for rows of the batch, after all tables are written."""
        steps = {
            name: step
            for name, each in groups.items()
            if each.awaited and (step := self._sinks[name][""].after_write)
        }
        if not steps:
            return
        with while_held(self._lease):
            released = release_rows(records, steps, {name: groups[name].awaited for name in steps})
        for name, given_up in released.items():
            groups[name].figures.add_rejected(given_up)

    def _look_up(self, groups: Mapping[str, _GroupBatch]) -> Iterator[tuple[str, _GroupBatch]]:
        """Yield the groups whose unknown versions have an answer now."""
        for name, each in groups.items():
            if each.unknown and self._lookups[name].look_up(each.versions, each.find_keys):
                yield name, each

    def _write_records(
        self, records: DataFrame, groups: Mapping[str, _GroupBatch], constant: str
    ) -> None:
        """Write the records that the last lookups decide about, or those of known versions."""
        by_topic = {topic: name for name, each in groups.items() for topic in each.topics}
        chosen = records if "" in groups else records.filter(F.col("topic").isin(list(by_topic)))
        tables = {name: self._make_tables(name, each, constant) for name, each in groups.items()}
        with while_held(self._lease):
            found = write_records(select_records(chosen), tables, by_topic)
        for name, each in groups.items():
            own = {schema: done for (group, schema), done in found.items() if group == name}
            self._add(name, each, own)

    def _make_tables(self, name: str, group: _GroupBatch, constant: str) -> RecordTables:
        versions = group.versions.all()
        if name not in self._described or self._described[name][0] != versions:
            self._described[name] = versions, describe_versions(versions)
        schemas = self._described[name][1]
        decided = None
        if group.versions.lookups:
            last = group.versions.lookups[-1]
            decided = frozenset(group.versions.answered()) - {
                *(each.key for each in last.versions),
                *last.refused,
            }
            schemas = replace(schemas, refused=dict(last.refused), others=last.others)
        return RecordTables(self._sinks[name], schemas, self._framing, decided, constant)

    def _add(self, name: str, group: _GroupBatch, found: Mapping[str, Written]) -> None:
        """Add the counts of a pass over the tables of a group."""
        done = Written()
        for schema, each in found.items():
            done.add(each)
            if step := self._sinks[name][schema].after_write:
                group.figures.add_rejected(step.report(each.after))
        group.unknown = done.waiting
        group.awaited |= done.awaited
        group.figures.add(_count_written(done))
        group.figures.add_dead_letters(done.failed)


def _count_written(written: Written) -> dict[str, int]:
    """Return the counts of a batch's figures."""
    return {
        "records": written.records,
        "rows": written.rows,
        "tombstones": written.ignored[Ignored.TOMBSTONE] + written.deletions,
        "empty": written.ignored[Ignored.EMPTY],
        "unknown": written.unknown,
    }
