"""Reads topics, whatever schemas their records are in, and writes every record to tables.

    spark-submit --py-files penstock-pyfiles.zip --jars ... jobs/consume.py --contract FILE \\
        --secret-arn ARN --checkpoint s3://... --lake-table DATABASE.TABLE --errors-table TABLE ...

New schemas are followed without a restart. Prints one line of JSON for each batch.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from penstock.kafka import TopicIds
from penstock.registry import CachedRegistry, SchemaRegistry, load_registry
from penstock.spark import (
    BatchCounts,
    Batches,
    Checkpoint,
    ConsumeSettings,
    DynamoDbErrors,
    ErrorSink,
    Fence,
    Lease,
    Ledger,
    LossWatch,
    ReportListener,
    StateFiles,
    TopicWatch,
    await_end,
    build_session,
    check_routes,
    check_session,
    open_sinks,
    open_stream,
    read_ranges,
    read_settings,
    read_text,
)


def start(
    spark: SparkSession,
    settings: ConsumeSettings,
    registry: SchemaRegistry,
    errors: ErrorSink,
    lease: Fence,
) -> StreamingQuery:
    """Start to read and write; the query goes on by itself."""
    sinks = open_sinks(spark, settings.sinks, errors, lease)
    checkpoint = Checkpoint(spark, settings.checkpoint)
    next_batch = checkpoint.check()
    routes = StateFiles(spark, f"{settings.checkpoint}/penstock-routes")
    check_routes(routes, checkpoint, next_batch, dict(settings.sinks.route))
    ledger = Ledger(spark, f"{settings.checkpoint}/penstock-ledger", next_batch)
    batches = Batches(spark, registry, ledger, sinks, errors)
    policy = settings.read.on_lost_offsets
    watch = LossWatch(settings.kafka, policy)
    seen = StateFiles(spark, f"{settings.checkpoint}/penstock-topics")
    ids = TopicIds(settings.kafka)
    topics = TopicWatch(ids, checkpoint, seen, policy, settings.read.topics)
    counts: dict[int, BatchCounts] = {}
    spark.streams.addListener(ReportListener(counts))

    def write(records: DataFrame, number: int) -> None:
        lease.check()
        changes = topics.check(number)
        if changes.gone:
            records = read_ranges(records, settings.kafka, settings.read, changes.planned)
        done = batches.take(records, checkpoint.batch_id(number))
        lost = (*changes.lost, *watch.check(records, number, changes.planned, done.records))
        topics.remember()
        counts[number] = replace(done, lost=lost)

    return (
        open_stream(spark, settings.kafka, settings.read)
        .writeStream.foreachBatch(write)
        .option("checkpointLocation", settings.checkpoint)
        .trigger(**settings.when())
        .start()
    )


def main(argv: Sequence[str] | None = None) -> None:
    """Consume until there is nothing left, or for ever."""
    spark = build_session("consume")
    check_session(spark)
    settings = read_settings(
        ConsumeSettings,
        sys.argv[1:] if argv is None else argv,
        os.environ,
        partial(read_text, spark),
    )
    registry = CachedRegistry(load_registry(settings.registry))
    errors = DynamoDbErrors(settings.sinks.errors_table, settings.sinks.parked_bucket)
    table, name = settings.sinks.errors_table, settings.checkpoint.rstrip("/")
    with Lease.claim(table, name, settings.lease) as lease:
        query = start(spark, settings, registry, errors, lease)
        lease.keep_for(query)
    await_end(query, TopicIds(settings.kafka), settings.read.topics)


if __name__ == "__main__":
    main()
