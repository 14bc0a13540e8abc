"""Tries records again that were given up, by the code that consumes, and says what came of it.

    spark-submit --py-files penstock-pyfiles.zip --jars ... jobs/replay.py --contract FILE \\
        --errors-table TABLE --parked-bucket BUCKET \\
        --lake-table DATABASE.TABLE --consume-checkpoint s3://... --reason unknown-schema ...

Give it the sinks and routes of the job that consumes. A record that is written is marked done in
its row; one that failed three times is parked. It may be killed at any point and run again; a
second one beside it is refused. Prints one line of JSON.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from functools import partial
from uuid import uuid4

from pyspark.sql import SparkSession

from penstock.registry import CachedRegistry, SchemaRegistry, load_registry
from penstock.sinks import DynamoDbClient, ErrorRows, ParkedRecords, Parking
from penstock.spark import (
    Batches,
    Checkpoint,
    Ends,
    FailedAgain,
    Fence,
    Lease,
    Ledger,
    Lesson,
    Lessons,
    Replay,
    ReplayCounts,
    ReplaySettings,
    build_session,
    check_session,
    open_sinks,
    read_settings,
    read_text,
)


def recall(spark: SparkSession, settings: ReplaySettings) -> Lessons:
    """Know the versions that the job which consumes knows: it made the lake's columns of them."""
    lessons = Lessons()
    if settings.consume_checkpoint:
        ledger = Ledger(spark, f"{settings.consume_checkpoint}/penstock-ledger")
        lessons.add(Lesson(-1, 0, ledger.before(sys.maxsize)))
    return lessons


def find_ends(spark: SparkSession, settings: ReplaySettings) -> Ends | None:
    """Find how far the job has read that consumes; None where nobody else writes the tables."""
    folder = settings.consume_checkpoint
    return Checkpoint(spark, folder).read_so_far() if folder else None


def build_replay(
    spark: SparkSession,
    settings: ReplaySettings,
    registry: SchemaRegistry,
    lease: Fence,
    name: str,
) -> Replay:
    """Open what is read and written; nothing is called yet."""
    sinks = settings.sinks
    failed = FailedAgain(sinks.errors_table, name)
    opened = open_sinks(spark, sinks, failed, lease, replayed=True)
    parking = Parking(sinks.parked_bucket)
    days = settings.keep_settled_days
    return Replay(
        spark,
        name,
        ErrorRows(DynamoDbClient(), sinks.errors_table, parking, keep_days=days),
        Batches(spark, CachedRegistry(registry), recall(spark, settings), opened, failed),
        ParkedRecords(parking),
    )


def run(
    spark: SparkSession, settings: ReplaySettings, registry: SchemaRegistry, name: str
) -> ReplayCounts:
    """Try what is selected, as far as the job that consumes has read.

    Raises:
        CheckpointTakenError: another replay runs.
    """
    with Lease.claim(settings.sinks.errors_table, "replay", settings.lease) as lease:
        replay = build_replay(spark, settings, registry, lease, name)
        selection = settings.selection.select(int(time.time()))
        return replay.run(selection, find_ends(spark, settings))


def main(argv: Sequence[str] | None = None) -> None:
    """Try again what is selected."""
    spark = build_session("replay")
    check_session(spark)
    words = sys.argv[1:] if argv is None else argv
    settings = read_settings(ReplaySettings, words, os.environ, partial(read_text, spark))
    name = uuid4().hex
    counts = run(spark, settings, load_registry(settings.registry), name)
    print(json.dumps({"service": "replay", "replay": name, **counts.to_values()}))


if __name__ == "__main__":
    main()
