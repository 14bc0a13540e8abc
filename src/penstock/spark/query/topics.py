"""Batches whose records go to tables by topic.

A table has versions, a merge and a ledger of its own, as if a query read its topics alone. What
fails in one table's records does not matter to another. The batch is shared: Kafka is read once,
and a batch is over when all tables have it. Tables of DynamoDB alone are written in one Spark job
(`record_tables`); each other table is decoded and written by itself, in parts.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from penstock.errors import CheckpointError, Reason
from penstock.spark.query.batch import Batches, TableSinks
from penstock.spark.query.record_tables import RecordTables
from penstock.spark.query.record_task import RecordTable
from penstock.spark.query.report import BatchCounts
from penstock.tables import BatchId

# Tables of DynamoDB alone, or another table with its name.
Step = RecordTables | tuple[str, Batches]


@dataclass(frozen=True, slots=True)
class TopicRoutes:
    """The tables of a query, written in this order.

    Attributes:
        tables: the tables by name; record tables that follow each other are written at once.
        find: returns the name of a topic's table, or None if it has none.
        topics: the topics or pattern of each table as text, which must not change while a batch is
            half done.
    """

    tables: Mapping[str, TableSinks | RecordTable]
    find: Callable[[str], str | None]
    topics: Mapping[str, str]


class TopicBatches:
    """Takes the batches of one query for each table that they have records for, step by step."""

    def __init__(self, steps: Sequence[Step], find: Callable[[str], str | None]) -> None:
        self._steps = steps
        self._find = find

    def take(self, records: DataFrame, batch: BatchId) -> BatchCounts:
        """Write the records of a batch; this is idempotent.

        Raises:
            CheckpointError: the batch has records of a topic without a table.
            PenstockError: as `Batches.take` does; other tables may have the batch.
        """
        found = records.groupBy("topic").agg(F.count("*").alias("records")).collect()
        topics = self._by_table(sorted(row["topic"] for row in found))
        counts: dict[str, BatchCounts] = {}
        for step in self._steps:
            if isinstance(step, RecordTables):
                counts |= step.take(records, batch, topics)
                continue
            name, table = step
            if name in topics or table.needs_marker(batch.number):
                own = records.filter(F.col("topic").isin(topics.get(name, [])))
                counts[name] = table.take(own, batch)
        return _add(counts)

    def _by_table(self, topics: Iterable[str]) -> dict[str, list[str]]:
        by_table: defaultdict[str, list[str]] = defaultdict(list)
        for topic in topics:
            name = self._find(topic)
            if name is None:
                raise CheckpointError(
                    f"found records of the topic {topic}, which no table takes, expected the topics"
                    " of the plan: add it to a table, or begin with a new checkpoint"
                )
            by_table[name].append(topic)
        return by_table


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
