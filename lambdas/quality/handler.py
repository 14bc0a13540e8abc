"""The quality function: checks tables of the lake, and stores a report of each."""

from __future__ import annotations

import os
from typing import Any

from aws_lambda_powertools import Logger, single_metric
from aws_lambda_powertools.metrics import MetricUnit

from penstock.errors import OperationError, PenstockError
from penstock.extensions.quality import (
    Report,
    ScheduleSettings,
    StoredReport,
    TopicSettings,
    check_quality,
)
from penstock.operations import read_stored_settings
from penstock.sinks import FunctionLease, FunctionLeaseSettings

# For what a run does after its last query: the report, and the metric.
_RESERVE_SECONDS = 30

_settings = ScheduleSettings.from_environ(
    read_stored_settings(os.environ, "PENSTOCK_QUALITY_TABLES")
)
# Without brokers, the rules that need Kafka are not checked.
_topics = (
    TopicSettings.from_environ(os.environ) if "KAFKA_BOOTSTRAP_SERVERS" in os.environ else None
)
_lease = FunctionLease(FunctionLeaseSettings.from_environ(os.environ).table)
# Named after the package, so that the logs of its modules have the same format.
_log = Logger(service="penstock")


@_log.inject_lambda_context
def lambda_handler(event: Any, context: Any) -> dict[str, Any]:
    """Check the tables, unless another invocation does."""
    with _lease.held_during(context) as is_held:
        return _check_tables(context) if is_held else {"skipped": True}


def _check_tables(context: Any) -> dict[str, Any]:
    """Check each table, and fail at the end if one could not be checked."""
    done: dict[str, Any] = {}
    problems = []
    for table in _settings.tables:
        left = context.get_remaining_time_in_millis() // 1_000 - _RESERVE_SECONDS
        try:
            stored = _check(table, left)
        except PenstockError as error:
            problems.append(f"{table}: {error}")
            continue
        _count(stored.report)
        failed = [each.rule for each in stored.report.failed]
        done[table] = {"failed": failed, "reports": stored.places}
    _log.info(done)
    if problems:
        raise OperationError(f"not every table was checked: {'; '.join(problems)}")
    return done


def _check(table: str, seconds: int) -> StoredReport:
    if seconds <= 0:
        raise OperationError("the function has no time left, expected fewer tables")
    settings = _settings.of_table(table, os.environ, seconds)
    return check_quality(settings, table, _topics, _settings.reports)


def _count(report: Report) -> None:
    """Write the metric of a table, whose alarm rings above 0."""
    with single_metric(
        name="QualityRulesFailed",
        unit=MetricUnit.Count,
        value=len(report.failed),
        namespace="Penstock",
    ) as metric:
        metric.add_dimension(name="Table", value=report.table)
