"""Take the batches of a query for each group of its tables.

A table by topic has versions, a merge and a ledger of its own, as if a query read only its topics.
What fails in one table's records does not matter to another. The batch is shared: Kafka is read
once, and a batch is over when all tables have it. Tables whose sinks read records are written in
one Spark job (`record_batches`), and so are several tables whose sinks append rows
(`append_batches`); each other group is decoded and written by itself, in parts.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import TypeAlias

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from penstock.errors import CheckpointError, Reason
from penstock.spark.query.append_batches import AppendBatches
from penstock.spark.query.batch import Batches
from penstock.spark.query.concurrently import Lanes
from penstock.spark.query.parts import BatchContext
from penstock.spark.query.record_batches import RecordBatches
from penstock.spark.query.report import BatchCounts
from penstock.spark.sinks.table import Table, TableGroup, find_table, group_tables
from penstock.spark.state.schema_ledger import Lookups
from penstock.tables import BatchId


class _GroupBatches:
    """Takes the batches of groups whose records are decoded to columns by queries of their own."""

    def __init__(
        self,
        groups: Mapping[str, TableGroup],
        ledgers: Mapping[str, Lookups],
        context: BatchContext,
    ) -> None:
        self._batches = {
            name: Batches(each, ledgers[name], context) for name, each in groups.items()
        }
        self._lanes = Lanes()

    def write_batch(
        self, records: DataFrame, batch: BatchId, topics: Mapping[str, Sequence[str]]
    ) -> Mapping[str, BatchCounts]:
        """Write the records of a batch for each group that has topics in it, or needs a marker."""
        counts: dict[str, BatchCounts] = {}

        def write(name: str, records: DataFrame) -> None:
            own = F.col("topic").isin([*topics.get(name, ())])
            counts[name] = self._batches[name].write_batch(
                records.filter(own) if name else records, batch
            )

        wanted = (
            name
            for name, each in self._batches.items()
            if not name or name in topics or each.needs_marker(batch.number)
        )
        self._lanes.run(records, {name: partial(write, name) for name in wanted})
        return {name: counts[name] for name in self._batches if name in counts}


_Step: TypeAlias = RecordBatches | AppendBatches | _GroupBatches


class TableBatches:
    """Takes the batches of one query, one after the other."""

    def __init__(
        self,
        tables: Sequence[Table],
        open_ledger: Callable[[str], Lookups],
        context: BatchContext,
    ) -> None:
        self._tables = tables
        self._steps: list[_Step] = []
        self.reads_once = not any(each.route.by_topic for each in tables)  # but for new versions
        for step, groups in group_steps(tables, context):
            ledgers = {name: open_ledger(name) for name in groups}
            self._steps.append(step(groups, ledgers, context))
            self.reads_once &= step is AppendBatches

    @property
    def deletes(self) -> bool:
        """Return whether a table deletes the rows of records without a value."""
        return any(each.deletes for each in self._tables)

    def write_batch(self, records: DataFrame, batch: BatchId) -> BatchCounts:
        """Write the records of a batch; this is idempotent.

        Raises:
            CheckpointError: the batch has records of a topic without a table.
            PenstockError: as `Batches.write_batch` does; other tables may have the batch.
        """
        is_by_topic = any(each.route.by_topic for each in self._tables)
        topics = self._find_topics(records) if is_by_topic else {"": []}
        counts: dict[str, BatchCounts] = {}
        for step in self._steps:
            counts |= step.write_batch(records, batch, topics)
        return _add(counts) if is_by_topic else counts[""]

    def _find_topics(self, records: DataFrame) -> dict[str, list[str]]:
        """Return the topics that have records in a batch, by the table that takes them."""
        found = records.groupBy("topic").agg(F.count("*").alias("records")).collect()
        by_table: defaultdict[str, list[str]] = defaultdict(list)
        for topic in sorted(row["topic"] for row in found):
            name = find_table(self._tables, topic)
            if name is None:
                raise CheckpointError(
                    f"found records of the topic {topic}, which no table takes, expected the topics"
                    " of the plan: add it to a table, or begin with a new checkpoint"
                )
            by_table[name].append(topic)
        return by_table


def group_steps(
    tables: Sequence[Table], context: BatchContext
) -> Iterator[tuple[type[_Step], dict[str, TableGroup]]]:
    """Yield the groups that are written one after the other, and the class that writes each.

    Those that are written in one job are one step, unless some of them come last.
    """
    groups = group_tables(tables)
    is_one_job = sum(len(each.tables) for each in groups if each.shares_job) > 1

    def step_of(group: TableGroup) -> tuple[type[_Step], bool]:
        step: type[_Step] = _GroupBatches
        if context.transform is None and group.reads_records:
            step = RecordBatches
        elif context.transform is None and is_one_job and group.shares_job:
            step = AppendBatches
        return step, group.comes_last

    for (step, _), found in groupby(groups, step_of):
        yield step, {group.name: group for group in found}


def _add(tables: Mapping[str, BatchCounts]) -> BatchCounts:
    """Return the counts of all tables together."""
    counts = tables.values()
    errors: Counter[Reason] = Counter()
    for each in counts:
        errors.update(each.errors)
    return BatchCounts(
        sum(each.records for each in counts),
        sum(each.rows for each in counts),
        sum(each.schemas for each in counts),
        sum(each.new_schemas for each in counts),
        errors,
        empty=sum(each.empty for each in counts),
        tombstones=sum(each.tombstones for each in counts),
        tables={name: each for name, each in tables.items() if each.records},
    )
