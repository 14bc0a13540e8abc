"""The query of `jobs/cdc.py`: topics of changes become tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from penstock.consuming import ErrorSink, SchemaReaders
from penstock.errors import LostRecordsError, SettingsError
from penstock.extensions.cdc.spark.awaited import AwaitedSchemas
from penstock.extensions.cdc.spark.current import DELETED, CurrentTable
from penstock.extensions.cdc.spark.dynamodb import CurrentDynamoDbTable
from penstock.extensions.cdc.spark.envelope import flatten_records, read_records
from penstock.extensions.cdc.spark.files import ChangeFiles
from penstock.extensions.cdc.spark.history import HistoryTable
from penstock.extensions.cdc.spark.refined import RefinedTable, find_sources
from penstock.extensions.cdc.spark.settings import CdcSettings
from penstock.extensions.cdc.spark.sink import ChangeSink, LogStates, Output
from penstock.kafka import open_consumer
from penstock.registry import Registries
from penstock.spark.failures import DynamoDbErrors
from penstock.spark.query.api import start_job
from penstock.spark.query.source import find_partitions, open_stream
from penstock.spark.query.stream import KafkaWatch, StreamQuery
from penstock.spark.rows import Fence
from penstock.spark.settings.consume import Starting
from penstock.spark.sinks.base import SinkContext
from penstock.spark.sinks.table import Route, Table
from penstock.spark.state.checkpoint import Checkpoint
from penstock.spark.state.lease import NoLease
from penstock.spark.state.losses import OffsetRange
from penstock.tables import TABLE, name_table


def start_cdc(
    spark: SparkSession,
    settings: CdcSettings,
    *,
    registries: Registries | None = None,
    errors: ErrorSink | None = None,
) -> StreamingQuery:
    """Start the query of `jobs/cdc.py`, and hold the lease of its checkpoint until it ends.

    A topic is a table of the database. A topic that is made later needs a new start.

    `registries` and `errors` are used in place of those that the settings name.

    Raises:
        CheckpointInUseError: another job holds the lease.
        CheckpointError: a file of the checkpoint is damaged.
        LostRecordsError: see `check_first_records`.
        SettingsError: there is no topic, or a table would have two writers.
        BrokerError: no broker can be asked for the topics.
    """
    check_first_records(spark, settings)
    letters = settings.dead_letters
    errors = errors or DynamoDbErrors(letters.errors_table, letters.parked_bucket)
    watch = partial(KafkaWatch, settings.kafka, settings.read, needs_first=True)

    def build(lease: Fence) -> StreamQuery:
        return replace(open_query(spark, settings, errors, registries, lease), watch=watch)

    return start_job(spark, settings, letters.errors_table, build)


def open_query(
    spark: SparkSession,
    settings: CdcSettings,
    errors: ErrorSink,
    registries: Registries | None = None,
    lease: Fence | None = None,
) -> StreamQuery:
    """Return the query over the topics that there are; nothing is read yet.

    Raises:
        SettingsError: see `check_names`.
        BrokerError: no broker can be asked for the topics.
    """
    topics = sorted(find_partitions(settings.kafka, settings.read))
    check_names(settings, topics)
    known, lease = registries or settings.schemas.load(), lease or NoLease()
    if settings.may_stop:
        known = AwaitedSchemas(known)
    refined = open_refined(settings, map(name_table, topics))
    context = SinkContext(spark, errors, lease, settings.schemas)
    return StreamQuery(
        stream=open_stream(spark, settings.kafka, settings.read, may_stop=False),
        checkpoint=settings.checkpoint,
        registries=known,
        tables=tuple(open_table(context, settings, each, known, refined) for each in topics),
        errors=errors,
        lease=lease,
        bounded=settings.read.max_offsets_per_trigger is not None,
        service=settings.service,
    )


def check_first_records(spark: SparkSession, settings: CdcSettings) -> None:
    """Check that tables which begin with the earliest records begin with the first ones.

    A table is equal to the database's after a snapshot and all changes since. If Kafka has removed
    some of them, rows without a later change would be missing.

    Raises:
        CheckpointError: a file of the checkpoint is damaged.
        LostRecordsError: first records are removed, and the policy is to stop.
        BrokerError: no broker can be asked for them.
    """
    read = settings.read
    is_earliest = read.starting is Starting.EARLIEST
    if not settings.may_stop or not is_earliest or Checkpoint(spark, settings.checkpoint).check():
        return
    topics = find_partitions(settings.kafka, read)
    places = [(topic, each) for topic, partitions in topics.items() for each in partitions]
    with closing(open_consumer(settings.kafka)) as consumer:
        earliest = consumer.find_earliest(places)
    removed = [OffsetRange(*place, 0, offset) for place, offset in earliest.items() if offset]
    if removed:
        raise LostRecordsError(
            f"found {', '.join(map(str, sorted(removed)))} removed by Kafka, expected all records"
            " since a snapshot: tables would lack rows without a later change. Let the connector"
            " snapshot again, and start with --starting at the time before that, or with"
            " --on-lost-offsets go-on"
        )


def open_table(
    context: SinkContext,
    settings: CdcSettings,
    topic: str,
    registries: Registries,
    refined: RefinedTable | None,
) -> Table:
    """Return the table of a topic."""
    name = name_table(topic)
    sink = ChangeSink(
        topic,
        tuple(open_outputs(settings, name, refined)),
        LogStates(context.spark, f"{settings.checkpoint}/cdc/{name}"),
        SchemaReaders(registries),
        settings.unavailable_value,
        settings.has_tables,
        context.lease,
    )
    return Table((sink,), Route(topics=(topic,)), name)


def open_refined(settings: CdcSettings, tables: Iterable[str]) -> RefinedTable | None:
    """Return the one table with the result of the query over current tables; None without a query.

    Raises:
        SettingsError: the query names no current table.
    """
    if not settings.refined_query:
        return None
    current = [settings.current_table.replace(TABLE, each) for each in tables]
    sources = find_sources(settings.refined_query, current)
    if not sources:
        raise SettingsError(
            [
                f"found none of {', '.join(current)} in --refined-query, expected the current"
                " tables that it reads, as DATABASE.TABLE"
            ]
        )
    return RefinedTable(
        settings.refined_table, settings.refined_query, settings.refined_by, sources
    )


def open_outputs(
    settings: CdcSettings, table: str, refined: RefinedTable | None = None
) -> Iterator[Output]:
    """Yield the outputs of a table, in the order in which they are written."""
    days = settings.remembered_days
    if path := settings.raw_path:
        yield ChangeFiles(path, settings.file_records, read_records)
    if path := settings.flattened_path:
        flatten = partial(flatten_records, unavailable=settings.unavailable_value)
        yield ChangeFiles(path, settings.file_records, flatten)
    if current := settings.current_table.replace(TABLE, table):
        yield CurrentTable(current, settings.current_buckets, days)
    if history := settings.history_table.replace(TABLE, table):
        yield HistoryTable(history, settings.unavailable_value, days)
    if dynamodb := settings.current_dynamodb_table.replace(TABLE, table):
        yield CurrentDynamoDbTable(dynamodb, days)
    if refined is not None and current in refined.sources:
        yield refined


def check_names(settings: CdcSettings, topics: Sequence[str]) -> None:
    """Check that there are topics, and that each table has one writer.

    Raises:
        SettingsError: they are not, or it has two.
    """
    if not topics:
        raise SettingsError(
            [
                "found no topic of --topics or --topic-pattern, expected those of the connector:"
                " it makes a topic with the first record of a table"
            ]
        )
    writers = dict[str, str]()
    for table, writer in _list_tables(settings, topics):
        if table in writers:
            raise SettingsError(
                [
                    f"found the table {table} for {writers[table]}, and for {writer}, expected"
                    " tables of their own: choose other names, or read one topic by another job"
                    " with another database"
                ]
            )
        writers[table] = writer


def _list_tables(settings: CdcSettings, topics: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each table of the job with what writes it, and what stands for {table}."""
    named = {"--current-table": settings.current_table, "--history-table": settings.history_table}
    for topic in topics:
        table = name_table(topic)
        yield table, f"{TABLE} of {topic}"
        for flag, name in named.items():
            if name:
                made = name.replace(TABLE, table)
                yield made, f"{flag} of {topic}"
                yield f"{made}{DELETED}", f"{flag} of {topic}"
    if settings.refined_table:
        yield settings.refined_table, "--refined-table"
