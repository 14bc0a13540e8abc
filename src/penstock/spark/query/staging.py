"""The query of a staging job: topics become tables by a plan."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from penstock.registry import Registries
from penstock.spark.failures import DynamoDbErrors, ErrorSink
from penstock.spark.query.batch import TableSinks
from penstock.spark.query.joining import JoinStep
from penstock.spark.query.record_task import RecordTable
from penstock.spark.query.sinks import open_record_table, open_sinks, open_tombstones
from penstock.spark.query.source import find_partitions, open_stream
from penstock.spark.query.stream import KafkaWatch, StreamQuery
from penstock.spark.query.topics import TopicRoutes
from penstock.spark.rows import Fence
from penstock.spark.settings.consume import ReadSettings
from penstock.spark.settings.stage import StageSettings
from penstock.spark.state.lease import Lease, name_lease
from penstock.staging import Role, StagedTable, StagingPlan, StagingSink

_LOG = logging.getLogger(__name__)


def start_staging(
    spark: SparkSession,
    settings: StageSettings,
    plan: StagingPlan,
    *,
    registries: Registries | None = None,
    errors: ErrorSink | None = None,
) -> StreamingQuery:
    """Start the query of `jobs/stage.py`, and hold the lease of its checkpoint until it ends.

    Args:
        spark: a session from `build_session`.
        settings: the settings of the job.
        plan: its tables.
        registries: used in place of those that the settings name.
        errors: used in place of the dead-letter table that the settings name.

    Raises:
        CheckpointTakenError: another job holds the lease.
        CheckpointError: a file of the checkpoint is damaged.
        SettingsError: it is to begin at the offset of a partition that does not exist.
        BrokerError: no broker can be asked for the partitions.
    """
    errors = errors or DynamoDbErrors(settings.errors_table, settings.parked_bucket)
    lease_name = name_lease(settings.checkpoint)
    with Lease.claim(settings.errors_table, lease_name, settings.lease) as lease:
        read = _limit(settings, plan)
        query = StreamQuery(
            stream=open_stream(spark, settings.kafka, read),
            checkpoint=settings.checkpoint,
            registries=registries or settings.schemas.load(),
            sinks=route_topics(spark, settings, plan, errors, lease),
            errors=errors,
            lease=lease,
            watch=partial(KafkaWatch, settings.kafka, read),
            bounded=True,
            service=settings.service,
        ).start(**settings.when())
        lease.keep_for(query)
        return query


def route_topics(
    spark: SparkSession,
    settings: StageSettings,
    plan: StagingPlan,
    errors: ErrorSink,
    lease: Fence,
) -> TopicRoutes:
    """Return the tables of a plan; drivers come last, after what they need."""

    def open_table(table: StagedTable) -> TableSinks | RecordTable:
        sinks = settings.sinks_of(table)
        step = JoinStep(plan, table.name, settings.join_tables, settings.service)
        is_driver = table.role is Role.DRIVER
        follower = step if is_driver or plan.dependents(table.name) else None
        columns = replace(table.columns, keeps_empty=table.shape.key_format is not None)
        if not sinks.lake_table:
            return open_record_table(
                sinks, columns, settings.schemas, follower, is_driver=is_driver
            )
        return TableSinks(
            [*open_sinks(spark, sinks, errors, lease, settings.schemas, follower=follower)],
            open_tombstones(sinks, errors, lease, settings.schemas, follower),
            columns,
        )

    def find(topic: str) -> str | None:
        table = plan.by_topic(topic)
        return None if table is None else table.name

    ordered = sorted(
        plan.tables,
        key=lambda table: (table.role is Role.DRIVER, StagingSink.LAKE in table.sinks),
    )
    return TopicRoutes(
        {table.name: open_table(table) for table in ordered},
        find,
        {table.name: " ".join([*table.topics, table.pattern]).strip() for table in plan.tables},
    )


def _limit(settings: StageSettings, plan: StagingPlan) -> ReadSettings:
    """Return what to read, with the limit of a batch for the partitions there are."""
    partitions = find_partitions(settings.kafka, settings.read)
    _name_missing({topic for table in plan.tables for topic in table.topics} - partitions.keys())
    count = sum(map(len, partitions.values())) or 1
    limit = settings.max_offsets_per_partition * count
    most = settings.read.max_offsets_per_trigger
    return replace(
        settings.read, max_offsets_per_trigger=limit if most is None else min(most, limit)
    )


def _name_missing(topics: Iterable[str]) -> None:
    if missing := ", ".join(sorted(topics)):
        _LOG.warning("found no topic %s: others are read, and it is when it is created", missing)
