"""`make aws-check` runs a Spark job, and ends it with all that it made."""

from __future__ import annotations

import gzip
import json
import time
from typing import Any

import boto3
import pytest

from tests.unit.tools.test_aws_check import account
from tools.aws_check import spark
from tools.aws_check.spark import ask_spark_environment

__all__ = ["account"]

_METRICS = '{"_aws": {"Timestamp": 0, "CloudWatchMetrics": []}, "penstock": "check"}'
_PACKAGES = {"boto3": None, "numpy": "2.3", "pandas": "2.3", "pyarrow": "21.0"}
_FOUND = {
    "archive": [True, True],
    "iceberg": ["iceberg-spark-runtime.jar"],
    "packages": [_PACKAGES, _PACKAGES],
    "region": {"AWS_REGION": "eu-central-1"},
}


class _Emr:
    """EMR Serverless whose job prints what it is told to, into its bucket and its log group."""

    def __init__(self, s3: Any, logs: Any, printed: dict[str, Any] | None, events: str) -> None:
        self.s3, self.logs, self.printed, self.events = s3, logs, printed, events
        self.states = iter(["STARTED", "STOPPED"])
        self.run_states = ["SUCCESS"]
        self.deleted: list[str] = []

    def create_application(self, **_: Any) -> dict[str, str]:
        return {"applicationId": "app"}

    def start_job_run(self, **given: Any) -> dict[str, str]:
        monitoring = given["configurationOverrides"]["monitoringConfiguration"]
        bucket = monitoring["s3MonitoringConfiguration"]["logUri"].split("/")[2]
        program = given["jobDriver"]["sparkSubmit"]["entryPoint"].rpartition("/")[2]
        compile(self.s3.get_object(Bucket=bucket, Key=program)["Body"].read(), program, "exec")
        if self.printed is not None:
            key = "logs/applications/app/jobs/run/SPARK_DRIVER/stdout.gz"
            packed = gzip.compress(f"{_METRICS}\n{json.dumps(self.printed)}\n".encode())
            self.s3.put_object(Bucket=bucket, Key=key, Body=packed)
        group = monitoring["cloudWatchLoggingConfiguration"]["logGroupName"]
        self.logs.create_log_stream(logGroupName=group, logStreamName="driver")
        event = {"timestamp": int(time.time() * 1000), "message": self.events}
        self.logs.put_log_events(logGroupName=group, logStreamName="driver", logEvents=[event])
        return {"jobRunId": "run"}

    def get_job_run(self, **_: Any) -> dict[str, Any]:
        state = self.run_states.pop(0) if len(self.run_states) > 1 else self.run_states[0]
        return {"jobRun": {"state": state}}

    def cancel_job_run(self, **_: Any) -> None:
        self.run_states = ["CANCELLING", "CANCELLED"]

    def stop_application(self, **_: Any) -> None:
        assert self.run_states in (["SUCCESS"], ["CANCELLED"])

    def get_application(self, **_: Any) -> dict[str, Any]:
        return {"application": {"state": next(self.states)}}

    def delete_application(self, applicationId: str) -> None:
        self.deleted.append(applicationId)


@pytest.mark.parametrize(
    ("printed", "events", "verdict"),
    [
        (_FOUND, _METRICS, True),
        (_FOUND | {"archive": [True, False]}, _METRICS, False),
        (_FOUND | {"region": {"AWS_REGION": None}}, _METRICS, False),
        (_FOUND | {"packages": [_PACKAGES, _PACKAGES | {"pyarrow": None}]}, _METRICS, False),
        (_FOUND, f"{_METRICS}\n{_METRICS}", False),
        (None, _METRICS, None),
    ],
    ids=["expected", "archive", "region", "pyarrow", "two-lines-in-one-event", "nothing"],
)
def test_a_spark_job_tells_of_its_environment_and_nothing_stays(
    account: Any, printed: dict[str, Any] | None, events: str, verdict: bool | None
) -> None:
    emr = _Emr(account("s3"), account("logs"), printed, events)

    assert ask_spark_environment(_session(emr), lambda _: None).expected is verdict

    assert _find_leftovers(account, emr) == []


def test_a_spark_job_that_takes_too_long_is_cancelled_and_nothing_stays(
    account: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark, "_SECONDS", 0.2)
    emr = _Emr(account("s3"), account("logs"), None, _METRICS)
    emr.run_states = ["RUNNING"]

    finding = ask_spark_environment(_session(emr), lambda _: time.sleep(0.3))

    assert finding.lines == ["the job ended CANCELLED and printed nothing"]
    assert _find_leftovers(account, emr) == []


def test_a_spark_job_is_cancelled_at_ctrl_c_and_nothing_stays(account: Any) -> None:
    emr = _Emr(account("s3"), account("logs"), None, _METRICS)
    emr.run_states = ["RUNNING"]
    naps = iter([KeyboardInterrupt])

    def sleep(_: float) -> None:
        for error in naps:
            raise error

    with pytest.raises(KeyboardInterrupt):
        ask_spark_environment(_session(emr), sleep)

    assert _find_leftovers(account, emr) == []


def _session(emr: _Emr) -> Any:
    session = boto3.Session()
    clients = session.client
    session.client = lambda name: emr if name == "emr-serverless" else clients(name)  # type: ignore[method-assign]
    return session


def _find_leftovers(account: Any, emr: _Emr) -> list[Any]:
    return [
        *([] if emr.deleted == ["app"] else ["app"]),
        *account("s3").list_buckets()["Buckets"],
        *account("iam").list_roles()["Roles"],
        *account("logs").describe_log_groups()["logGroups"],
    ]
