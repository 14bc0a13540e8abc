"""The retry function: retries joins that lacked dependencies, parks those that failed too often."""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit

from penstock.extensions.staging import Retries, RetryCounts, RetrySettings
from penstock.sinks import (
    FunctionLease,
    FunctionLeaseSettings,
    ObjectStore,
    ParkedRecords,
    Selection,
)

# The time for the end of a run, which writes the notice and marks the parked dead letters.
_RESERVE_MS = 30_000

_settings = RetrySettings.from_environ(os.environ)
# The name of the package, so that the logs of its modules have the same format.
_log = Logger(service="penstock")
_metrics = Metrics(namespace="Penstock", service=_settings.service)
_joiner = _settings.open()
_parked = ParkedRecords(ObjectStore(_settings.parked_bucket))
_lease = FunctionLease(FunctionLeaseSettings.from_environ(os.environ).table)


@_log.inject_lambda_context
@_metrics.log_metrics
def lambda_handler(event: Any, context: Any) -> dict[str, Any]:
    """Retry the due joins, unless another invocation is running."""
    with _lease.held_during(context) as is_held:
        if is_held:
            return _retry(context)
    _metrics.add_metric("RunsSkipped", MetricUnit.Count, 1)
    return {"skipped": True}


def _retry(context: Any) -> dict[str, Any]:
    """Retry the due joins while there is time; the next run continues."""

    def has_time() -> bool:
        return bool(context.get_remaining_time_in_millis() > _RESERVE_MS)

    half_ms = context.get_remaining_time_in_millis() / 2

    def has_half_its_time() -> bool:
        return bool(context.get_remaining_time_in_millis() > half_ms)

    if has_time():  # before the retries, which may use up the time
        waiting = _joiner.errors.count_unjoined(Selection(), has_half_its_time)
        _metrics.add_metric("RecordsWaiting", MetricUnit.Count, waiting)
    counts = RetryCounts()
    try:
        Retries(_joiner, _parked, context.aws_request_id).run(int(time.time()), has_time, counts)
    finally:  # a run that fails has parked records too
        _metrics.add_metric("RecordsJoined", MetricUnit.Count, counts.joined)
        _metrics.add_metric("RecordsParked", MetricUnit.Count, counts.parked)
    _log.info(json.dumps(asdict(counts)))
    return asdict(counts)
