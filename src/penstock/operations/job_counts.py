"""Count the rows and dead letters of a job run, from the lines of JSON in its log."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from penstock.errors import OperationError
from penstock.operations._clients import build_client
from penstock.operations.jobs import JobRun

_NAME: Final = "service"  # a job prints a line with it for each batch, a replay one in all
_LOOKS, _PAUSE_SECONDS = 3, 5.0  # lines may arrive after the state


@dataclass(frozen=True, slots=True)
class RunCounts:
    """The rows of a run, its dead letters by reason, and records that Kafka had deleted."""

    rows: int = 0
    dead_letters: Mapping[str, int] = field(default_factory=dict)
    lost: int = 0


def count_rows(run: JobRun, pause: Callable[[float], None] = time.sleep) -> RunCounts | None:
    """Return the counts of a run that has ended; None if its log has none.

    Raises:
        OperationError: the run or its log cannot be read.
    """
    try:
        emr = build_client("emr-serverless", region=run.region)
        shown = emr.get_job_run(applicationId=run.application_id, jobRunId=run.id)["jobRun"]
        place = _find_log(shown)
        if place is None:
            return None
        start = f"{place['logStreamNamePrefix']}/applications/{run.application_id}/jobs/{run.id}"
        for look in range(_LOOKS):
            if look:
                pause(_PAUSE_SECONDS)
            if lines := list(_read_lines(run.region, place["logGroupName"], start)):
                return _sum_lines(lines)
    except (ClientError, BotoCoreError) as error:
        raise OperationError(f"the counts of {run} cannot be read: {error}") from error
    return None


def _find_log(shown: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the log group and stream prefix of a run, None if it logs elsewhere."""
    monitoring = shown.get("configurationOverrides", {}).get("monitoringConfiguration", {})
    place: dict[str, Any] = monitoring.get("cloudWatchLoggingConfiguration", {})
    return place if {"logGroupName", "logStreamNamePrefix"} <= place.keys() else None


def _read_lines(region: str, group: str, start: str) -> Iterator[dict[str, Any]]:
    logs = build_client("logs", region=region)
    asked = {"logGroupName": group, "logStreamNamePrefix": start, "filterPattern": f'"{_NAME}"'}
    for page in logs.get_paginator("filter_log_events").paginate(**asked):
        for event in page["events"]:
            if (line := _read_line(event["message"])) is not None:
                yield line


def _read_line(text: str) -> dict[str, Any] | None:
    """Return the object in a line of counts, or None for any other line of the driver."""
    try:
        line = json.loads(text)
    except ValueError:
        return None
    return line if isinstance(line, dict) and _NAME in line else None


def _sum_lines(lines: list[dict[str, Any]]) -> RunCounts:
    errors: Counter[str] = Counter()
    for line in lines:
        errors.update(line.get("errors", {}))
    rows = sum(line.get("Rows", line.get("done", 0)) for line in lines)
    return RunCounts(rows, dict(errors), sum(line.get("LostRecords", 0) for line in lines))
