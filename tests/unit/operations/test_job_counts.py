"""The counts of a run are the sums of the lines of JSON in its log."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError

from penstock.errors import OperationError
from penstock.operations import Batch, JobRun, RunCounts, count_rows, read_batches

_RUN = JobRun("00a", "00b", "eu-central-1")
_PLACE = {"logGroupName": "/aws/emr", "logStreamNamePrefix": "consume"}
_BATCH = {"service": "consume", "Rows": 2, "errors": {"oversize": 1}, "LostRecords": 3}


class _Services:
    """EMR Serverless with one run, and its log by look."""

    def __init__(self, place: dict[str, Any], *looks: list[str]) -> None:
        self.place, self.looks, self.asked = place, list(looks), list[Any]()

    def get_job_run(self, **_: Any) -> dict[str, Any]:
        monitoring = {"cloudWatchLoggingConfiguration": self.place}
        return {"jobRun": {"configurationOverrides": {"monitoringConfiguration": monitoring}}}

    def get_paginator(self, _: str) -> _Services:
        return self

    def paginate(self, **asked: Any) -> list[dict[str, Any]]:
        self.asked.append(asked)
        return [{"events": [{"message": line}]} for line in self.looks.pop(0)]


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Any:
    def serve_it(services: Any) -> None:
        monkeypatch.setattr(
            "penstock.operations.job_counts.build_client", lambda *_, **__: services
        )

    return serve_it


def test_the_batches_of_a_run_are_summed(serve: Any) -> None:
    lines = [json.dumps(_BATCH), "Traceback of service", '"service"', json.dumps(_BATCH)]
    services = _Services(_PLACE, lines)
    serve(services)

    assert count_rows(_RUN) == RunCounts(4, {"oversize": 2}, 6)

    (asked,) = services.asked
    assert asked["logStreamNamePrefix"] == "consume/applications/00a/jobs/00b"


def test_the_batches_of_a_run_are_read(serve: Any) -> None:
    line = {
        **_BATCH,
        "batch": 7,
        "BatchDuration": 1_500,
        "RecordsBehind": 9,
        "_aws": {"Timestamp": 1_795_000_000_000},
    }
    others = (
        {"service": "replay", "done": 4},
        {"service": "sales", "in": 3, "out": 2, "batch": 1},
        {"service": "stage", "table": "orders", "RecordsJoined": 5},  # of a part of a batch
        {"service": "consume", "batch": 8, "BatchesFailed": 1},
    )
    serve(_Services(_PLACE, [*map(json.dumps, (line, *others))]))

    found = read_batches(_RUN)

    moment = datetime.fromtimestamp(1_795_000_000, UTC)
    assert found == (
        Batch(2, {"oversize": 1}, 3, 7, moment, 1.5, 9),
        Batch(4, {}, 0, None, None, None, None),
        Batch(2, {}, 0, 1, None, None, None),
    )


def test_a_run_counts_its_own_rows_only(
    client: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    logs, group = client("logs"), f"/counts/{secrets.token_hex(4)}"
    logs.create_log_group(logGroupName=group)
    for job, rows in (("00a", 5), (_RUN.id, 2)):
        stream = f"consume/applications/00a/jobs/{job}/SPARK_DRIVER/stdout"
        message = json.dumps({"service": "consume", "Rows": rows})
        logs.create_log_stream(logGroupName=group, logStreamName=stream)
        logs.put_log_events(
            logGroupName=group,
            logStreamName=stream,
            logEvents=[{"timestamp": int(time.time() * 1000), "message": message}],
        )
    clients = {"logs": logs, "emr-serverless": _Services(_PLACE | {"logGroupName": group})}
    monkeypatch.setattr(
        "penstock.operations.job_counts.build_client", lambda service, **_: clients[service]
    )

    assert count_rows(_RUN) == RunCounts(2)


def test_a_replay_counts_what_is_done(serve: Any) -> None:
    line = {"service": "replay", "done": 7, "failed": 1, "errors": {"oversize": 1}}
    serve(_Services(_PLACE, [json.dumps(line)]))

    assert count_rows(_RUN) == RunCounts(7, {"oversize": 1})


def test_lines_may_arrive_after_the_end(serve: Any) -> None:
    paused: list[float] = []
    serve(_Services(_PLACE, [], [], [json.dumps(_BATCH)]))

    assert count_rows(_RUN, paused.append) == RunCounts(2, {"oversize": 1}, 3)
    assert len(paused) == 2

    serve(_Services(_PLACE, [], [], []))
    assert count_rows(_RUN, paused.append) is None


def test_a_run_that_logs_elsewhere_has_no_counts(serve: Any) -> None:
    serve(_Services({}))

    assert count_rows(_RUN) is None


def test_a_log_that_cannot_be_read_is_an_error(serve: Any) -> None:
    class Denied(_Services):
        def get_paginator(self, name: str) -> _Services:
            raise ClientError({"Error": {"Code": "AccessDeniedException"}}, name)

    serve(Denied(_PLACE))

    with pytest.raises(OperationError, match=r"the counts of job run 00b .* cannot be read"):
        count_rows(_RUN)
