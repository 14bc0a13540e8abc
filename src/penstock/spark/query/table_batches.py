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

# Takes a batch for the groups that have topics in it, by group.
_Step = Callable[[DataFrame, BatchId, Mapping[str, Sequence[str]]], Mapping[str, BatchCounts]]
_OpenStep = Callable[[Mapping[str, TableGroup], Mapping[str, Lookups], BatchContext], _Step]


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
        for open_step, groups in group_steps(tables, context):
            ledgers = {name: open_ledger(name) for name in groups}
            self._steps.append(open_step(groups, ledgers, context))
            self.reads_once &= open_step is _open_append_batches

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
            counts |= step(records, batch, topics)
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
) -> Iterator[tuple[_OpenStep, dict[str, TableGroup]]]:
    """Yield the groups that are written one after the other, and what opens the step of each.

    Those that are written in one job are one step, unless some of them come last.
    """
    groups = group_tables(tables)
    is_one_job = sum(len(each.tables) for each in groups if each.shares_job) > 1

    def step_of(group: TableGroup) -> tuple[_OpenStep, bool]:
        open_step = _open_group_batches
        if context.transform is None and group.reads_records:
            open_step = _open_record_batches
        elif context.transform is None and is_one_job and group.shares_job:
            open_step = _open_append_batches
        return open_step, group.comes_last

    for (open_step, _), found in groupby(groups, step_of):
        yield open_step, {group.name: group for group in found}


def _open_record_batches(
    groups: Mapping[str, TableGroup], ledgers: Mapping[str, Lookups], context: BatchContext
) -> _Step:
    return RecordBatches(groups, ledgers, context).write_batch


def _open_append_batches(
    groups: Mapping[str, TableGroup], ledgers: Mapping[str, Lookups], context: BatchContext
) -> _Step:
    return AppendBatches(groups, ledgers, context).write_batch


def _open_group_batches(
    groups: Mapping[str, TableGroup], ledgers: Mapping[str, Lookups], context: BatchContext
) -> _Step:
    """Return the step of groups whose records are decoded to columns by queries of their own."""
    batches = {name: Batches(group, ledgers[name], context) for name, group in groups.items()}
    lanes = Lanes()

    def write_batch(
        records: DataFrame, batch: BatchId, topics: Mapping[str, Sequence[str]]
    ) -> Mapping[str, BatchCounts]:
        counts: dict[str, BatchCounts] = {}

        def write(name: str, records: DataFrame) -> None:
            own = F.col("topic").isin([*topics.get(name, ())])
            counts[name] = batches[name].write_batch(
                records.filter(own) if name else records, batch
            )

        wanted = (
            name
            for name, each in batches.items()
            if not name or name in topics or each.needs_marker(batch.number)
        )
        lanes.run(records, {name: partial(write, name) for name in wanted})
        return {name: counts[name] for name in batches if name in counts}

    return write_batch


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
