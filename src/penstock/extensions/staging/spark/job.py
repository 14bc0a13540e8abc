"""The query of a staging job: topics become tables by a plan."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from penstock.consuming import ErrorSink
from penstock.extensions.staging.plan import (
    STAGING_TIME,
    Role,
    StagedTable,
    StagingPlan,
    StagingSink,
)
from penstock.extensions.staging.spark.join_step import JoinStep
from penstock.extensions.staging.spark.settings import StageSettings
from penstock.registry import Registries
from penstock.spark.failures import DynamoDbErrors
from penstock.spark.query.api import start_job
from penstock.spark.query.source import find_partitions, open_stream
from penstock.spark.query.stream import KafkaWatch, StreamQuery
from penstock.spark.settings.consume import ReadSettings
from penstock.spark.sinks.base import SinkContext
from penstock.spark.sinks.table import Route, Table

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
        CheckpointInUseError: another job holds the lease.
        CheckpointError: a file of the checkpoint is damaged.
        SettingsError, BrokerError: see `open_stream` and `find_partitions`.
    """
    letters, read = settings.dead_letters, _limit(settings, plan)
    errors = errors or DynamoDbErrors(letters.errors_table, letters.parked_bucket)
    return start_job(
        spark,
        settings,
        letters.errors_table,
        lambda lease: StreamQuery(
            stream=open_stream(spark, settings.kafka, read, may_stop=False),
            checkpoint=settings.checkpoint,
            registries=registries or settings.schemas.load(),
            tables=open_plan(settings, plan, SinkContext(spark, errors, lease, settings.schemas)),
            errors=errors,
            lease=lease,
            watch=partial(KafkaWatch, settings.kafka, read),
            bounded=True,
            service=settings.service,
        ),
    )


def open_plan(
    settings: StageSettings, plan: StagingPlan, context: SinkContext
) -> tuple[Table, ...]:
    """Return the tables of a plan; drivers come last, after what they need."""

    def open_table(table: StagedTable) -> Table:
        is_driver = table.role is Role.DRIVER
        step = JoinStep(plan, table.name, settings.join_tables, settings.service)
        columns = replace(
            table.columns,
            keeps_empty=table.shape.key_format is not None,
            constant=STAGING_TIME,
        )
        sinks = settings.sinks_of(table).open_sinks(
            replace(
                context,
                columns=columns,
                after_write=step if is_driver or plan.dependents(table.name) else None,
            )
        )
        route = Route(topics=table.topics, pattern=table.pattern)
        return Table(sinks, route, table.name, columns, is_driver)

    def rank(table: StagedTable) -> tuple[bool, bool]:
        return table.role is Role.DRIVER, StagingSink.LAKE in table.sinks

    return tuple(map(open_table, sorted(plan.tables, key=rank)))


def _limit(settings: StageSettings, plan: StagingPlan) -> ReadSettings:
    """Return the settings of the source; the limit of a batch grows with the partitions."""
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
