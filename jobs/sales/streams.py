"""Streaming queries over sales: each batch writes all totals, as Spark's complete mode does.

Update mode writes only what changed: no batch would have all totals, so the published tables could
not be compared. The price is a record for each total in each batch, and state that never ends.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from jobs.sales.lake import merge_totals
from jobs.sales.reports import SalesLines
from jobs.sales.results import make_records, print_table, write_records
from jobs.sales.settings import StreamSettings
from jobs.sales.summaries import divide_state, drop_begun
from penstock.spark import BatchId, Checkpoint, MergedTable

Write = Callable[[DataFrame, BatchId], None]


def start_totals(
    totals: DataFrame, settings: StreamSettings, write: Write, lines: SalesLines
) -> StreamingQuery:
    """Start a query that passes all totals to `write` after each batch.

    Windows that begin before the query would lack sales, and are left out, also when it is started
    again without the time.
    """
    spark, run = totals.sparkSession, settings.run
    checkpoint = Checkpoint(spark, run.checkpoint)
    given = settings.begins()
    if begins := checkpoint.keep_start(given.isoformat() if given else ""):
        totals = drop_begun(totals, datetime.fromisoformat(begins))
    divide_state(spark)

    def write_batch(rows: DataFrame, number: int) -> None:
        batch = checkpoint.batch_id(number)
        rows.persist()  # the state is read once
        try:
            write(rows, batch)
            counts = {"in": _count_records(checkpoint, number), "out": rows.count()}
            lines.add(batch.query, number, {**counts, "offsets": batch.offsets})
        finally:
            rows.unpersist()

    stream = totals.writeStream.outputMode("complete").foreachBatch(write_batch)
    stream = stream.option("checkpointLocation", run.checkpoint)
    return stream.trigger(**run.when()).start()


def choose_write(settings: StreamSettings) -> Write:
    """Return the function that writes totals: to the output table and topic, or to the console."""
    key, kafka = settings.summary.by, settings.summary.kafka
    topic = settings.output_topic
    table = MergedTable(settings.output_table) if settings.output_table else None

    def to_console(totals: DataFrame, batch: BatchId) -> None:
        print(f"Batch {batch.number}")
        print_table(totals, key, settings.summary.rows)

    def to_outputs(totals: DataFrame, batch: BatchId) -> None:
        if table:
            merge_totals(totals, key, table)
        if topic:
            write_records(make_records(totals, key, batch), kafka, topic)

    return to_outputs if topic or table else to_console


def _count_records(checkpoint: Checkpoint, number: int) -> int:
    """Return the number of offsets that a batch read."""
    return sum(checkpoint.ends(number).values()) - sum(checkpoint.starts(number).values())
