"""The batches of a job run and their sums, from the lines of JSON in its log."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from penstock.errors import OperationError
from penstock.operations.clients import build_client
from penstock.operations.jobs import JobRun

_NAME: Final = "service"  # a job prints a line with it for each batch, a replay one in all
_ROWS: Final = ("Rows", "out", "done")  # of a job, of one that adds up, of a replay
_LOOKS, _PAUSE_SECONDS = 3, 5.0  # lines may arrive after the state


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch of a run: its rows, dead letters by reason, and records that Kafka had deleted.

    `number` and what follows it are None where the line of the job does not say it.
    """

    rows: int
    dead_letters: Mapping[str, int]
    lost: int
    number: int | None
    ended_at: datetime | None
    seconds: float | None
    records_behind: int | None


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
    for look in range(_LOOKS):
        if look:
            pause(_PAUSE_SECONDS)
        batches = read_batches(run)
        if batches is None:
            return None
        if batches:
            return _sum_batches(batches)
    return None


def read_batches(run: JobRun) -> tuple[Batch, ...] | None:
    """Return the batches of a run, those that it has written so far; None if it logs elsewhere.

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
        return tuple(map(_to_batch, _read_lines(run.region, place["logGroupName"], start)))
    except (ClientError, BotoCoreError) as error:
        raise OperationError(f"the counts of {run} cannot be read: {error}") from error


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
    is_of_batch = isinstance(line, dict) and _NAME in line and any(name in line for name in _ROWS)
    return line if is_of_batch else None


def _to_batch(line: Mapping[str, Any]) -> Batch:
    moment = line.get("_aws", {}).get("Timestamp")
    took_ms = line.get("BatchDuration")
    return Batch(
        rows=next(line[name] for name in _ROWS if name in line),
        dead_letters=line.get("errors", {}),
        lost=line.get("LostRecords", 0),
        number=line.get("batch"),
        ended_at=None if moment is None else datetime.fromtimestamp(moment / 1000, UTC),
        seconds=None if took_ms is None else took_ms / 1000,
        records_behind=line.get("RecordsBehind"),
    )


def _sum_batches(batches: Sequence[Batch]) -> RunCounts:
    errors: Counter[str] = Counter()
    for each in batches:
        errors.update(each.dead_letters)
    rows = sum(each.rows for each in batches)
    return RunCounts(rows, dict(errors), sum(each.lost for each in batches))
