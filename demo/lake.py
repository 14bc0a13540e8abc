"""The Spark job of the consumer account, and the lake that it writes: run, query, compare."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from demo.accounts import Account
from demo.rows import Row, Sent
from demo.screen import StepFailedError
from penstock.errors import OperationError
from penstock.operations import JobRun, start_job

_QUERY_SECONDS = 60
_ENDED = ("SUCCESS", "FAILED", "CANCELLED")
_ANSWERED = ("SUCCEEDED", "FAILED", "CANCELLED")
# The fields of a struct one by one: each engine writes a struct as text in its own way.
_VALUES = ("temperature", "latitude", "longitude")
_SELECT = """
SELECT _topic, _kafka_partition, _offset, deviceId AS device, temperature,
       location.latitude AS latitude, location.longitude AS longitude, _schema_version
FROM readings ORDER BY _topic, _kafka_partition, _offset
"""


def run_jobs(
    consumer: Account, consumed: dict[str, Any], names: Iterable[str], seconds: float
) -> list[Row]:
    """Submit Spark jobs, wait until all have ended or time is up, and return their runs.

    Raises:
        StepFailedError: a job was not accepted.
    """
    deadline = time.monotonic() + seconds
    submitted = [_submit(consumer, consumed, name) for name in names]
    return [_await_end(consumer, run, deadline) for run in submitted]


def _submit(consumer: Account, consumed: dict[str, Any], name: str) -> JobRun:
    try:
        return start_job(consumer.client("emr-serverless"), consumed["submit_commands"][name])
    except OperationError as error:
        raise StepFailedError(f"{consumer.where}, job {name}", f"{error}") from error


def _await_end(consumer: Account, run: JobRun, deadline: float) -> Row:
    emr = consumer.client("emr-serverless")
    asked = {"applicationId": run.application_id, "jobRunId": run.id}
    while (shown := emr.get_job_run(**asked)["jobRun"])["state"] not in _ENDED:
        if time.monotonic() > deadline:
            emr.cancel_job_run(**asked)
            break
        time.sleep(0.5)
    found: Row = shown
    return found


def read_lake(consumer: Account, lake: dict[str, Any], query: str = _SELECT) -> list[Row]:
    """Query the lake with Athena, and return its rows as text.

    Raises:
        StepFailedError: the query failed or took too long.
    """
    athena, where = consumer.client("athena"), f"{consumer.where}, Athena of {lake['workgroup']}"
    begun = athena.start_query_execution(
        QueryString=query,
        QueryExecutionContext={"Database": lake["database"]},
        WorkGroup=lake["workgroup"],
    )
    asked = {"QueryExecutionId": begun["QueryExecutionId"]}
    deadline = time.monotonic() + _QUERY_SECONDS
    while (status := _status(athena, asked))["State"] not in _ANSWERED:
        if time.monotonic() > deadline:
            raise StepFailedError(where, f"no answer within {_QUERY_SECONDS} s")
        time.sleep(0.1)
    if status["State"] != "SUCCEEDED":
        raise StepFailedError(where, f"{status['State']} {status.get('StateChangeReason', '')}")
    pages = athena.get_paginator("get_query_results").paginate(**asked)
    names, *rows = (
        [cell.get("VarCharValue") for cell in row["Data"]]
        for page in pages
        for row in page["ResultSet"]["Rows"]
    )
    return [dict(zip(names, row, strict=True)) for row in rows]


def source_of(row: Row) -> str:
    """Return the coordinates of the record that a row of the lake comes from."""
    return f"{row['_topic']}/{row['_kafka_partition']}/{row['_offset']}"


def find_wrong_lake_rows(
    sent: Sequence[Sent], known: Iterable[str], lake: Sequence[Row]
) -> list[str]:
    """Compare the lake with the events sent, and with the records that the other table knows.

    Each record must be in the lake once, and no other record.
    """
    found = Counter(map(source_of, lake))
    wrong = [f"{source}: {count} times in the lake" for source, count in found.items() if count > 1]
    wrong += [f"{source}: not in the lake" for source in known if source not in found]
    wrong += [f"{source}: in the lake only" for source in found.keys() - set(known)]
    rows = {source_of(row): row for row in lake}
    for one in sent:
        wanted, row = _describe(one), rows.get(one.source, {})
        if (got := {name: row.get(name) for name in wanted}) != wanted:
            wrong.append(f"{one.source}: {got}, expected {wanted}")
    return wrong


def _describe(one: Sent) -> Row:
    """Return the row that an event must have, as Athena writes it."""
    values = one.event | one.event.get("location", {})
    wanted = {name: values.get(name) for name in _VALUES}
    wanted["_schema_version"] = one.answer["schema"]["version"]
    return {name: None if value is None else str(value) for name, value in wanted.items()}


def _status(athena: Any, asked: dict[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = athena.get_query_execution(**asked)["QueryExecution"]["Status"]
    return found
