"""The question to EMR Serverless: what do workers find, and what becomes of what they print?"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import time
import zipfile
from collections.abc import Callable, Iterator
from typing import Any, Final

from tools.aws_check.findings import (
    Finding,
    make_bucket,
    make_name,
    make_role,
    read_caller,
)

RELEASE: Final = "emr-spark-8.1.0"
_SECONDS: Final = 900
_ENDED: Final = ("SUCCESS", "FAILED", "CANCELLED")
_STOPPED: Final = ("CREATED", "STOPPED", "TERMINATED")
_POLL_SECONDS: Final = 10
# Whether a module of an archive is found at the driver and at an executor, as the jobs need it;
# what EMR's Python has; EMR's own jars of Iceberg; and a line of metrics, as the jobs print them.
_PROGRAM: Final = """
import importlib.metadata, importlib.util, json, os, sys
from pyspark.sql import SparkSession
def find(_=None):
    return importlib.util.find_spec("in_the_archive") is not None
def version(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
def versions(_=None):
    return {name: version(name) for name in ("boto3", "numpy", "pandas", "pyarrow")}
folder = "/usr/share/aws/iceberg/lib"
numbers = SparkSession.builder.getOrCreate().sparkContext.parallelize([1], 1)
print(json.dumps({"_aws": {"Timestamp": 0, "CloudWatchMetrics": []}, "penstock": "check"}))
print(json.dumps({
    "python": ".".join(map(str, sys.version_info[:2])),
    "packages": [versions(), *numbers.map(versions).collect()],
    "archive": [find(), *numbers.map(find).collect()],
    "iceberg": sorted(os.listdir(folder)) if os.path.isdir(folder) else None,
    "region": {k: os.environ.get(k) for k in ("AWS_REGION", "AWS_DEFAULT_REGION")},
}))
"""
_METRICS: Final = {"_aws": {"Timestamp": 0, "CloudWatchMetrics": []}, "penstock": "check"}
_PRESENT: Final = ("numpy", "pandas", "pyarrow")
_PARAMETERS: Final = (
    "--archives s3://{bucket}/packages.zip#packages"
    " --conf spark.emr-serverless.driverEnv.PYTHONPATH=./packages"
    " --conf spark.executorEnv.PYTHONPATH=./packages"
)


def ask_spark_environment(session: Any, sleep: Callable[[float], None] = time.sleep) -> Finding:
    """Run a few lines of Python as a Spark job, and read what they print."""
    name = make_name()
    _, partition = read_caller(session)
    with contextlib.ExitStack() as made:
        bucket = made.enter_context(make_bucket(session, name))
        s3, logs = session.client("s3"), session.client("logs")
        s3.put_object(Bucket=bucket, Key="job.py", Body=_PROGRAM.encode())
        s3.put_object(Bucket=bucket, Key="packages.zip", Body=_make_archive())
        made.callback(_empty, s3, bucket)
        logs.create_log_group(logGroupName=name)
        made.callback(logs.delete_log_group, logGroupName=name)
        role = made.enter_context(
            make_role(
                session, name, "emr-serverless.amazonaws.com", *_make_statements(name, partition)
            )
        )
        emr = session.client("emr-serverless")
        application = made.enter_context(_application(emr, name, sleep))
        state, run = _run(emr, application, role, name, sleep)
        said = _read_output(s3, bucket, application, run)
        events = _read_events(logs, name)
    if said is None:
        return Finding(None, [f"the job ended {state} and printed nothing"])
    return _judge(said, events, session.region_name)


def _judge(said: str, events: list[str], region: str) -> Finding:
    """Compare with what the jobs need, and with what localcloud assumes."""
    _, *lines = said.strip().splitlines()
    found = json.loads(lines[-1])
    whole = any(_is_metrics(event) for event in events)
    expected = [
        all(found["archive"]),
        found["region"]["AWS_REGION"] == region,
        all(each[name] for each in found["packages"] for name in _PRESENT),
        whole,
    ]
    told = "one event" if whole else f"no event of its own among {len(events)}"
    return Finding(all(expected), [*lines, f"a line of metrics became {told} of the log group"])


def _is_metrics(event: str) -> bool:
    try:
        return bool(json.loads(event) == _METRICS)
    except ValueError:
        return False


def _read_events(logs: Any, group: str) -> list[str]:
    pages = logs.get_paginator("filter_log_events").paginate(logGroupName=group)
    return [event["message"] for page in pages for event in page["events"]]


def _make_statements(name: str, partition: str) -> tuple[dict[str, Any], ...]:
    """Return what the job's role may do: read its files, and write its output in two places."""
    return (
        {
            "Effect": "Allow",
            "Action": ["s3:GetObject", "s3:ListBucket", "s3:PutObject"],
            "Resource": [f"arn:{partition}:s3:::{name}{end}" for end in ("", "/*")],
        },
        {
            "Effect": "Allow",
            "Action": ["logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"],
            "Resource": f"arn:{partition}:logs:*:*:log-group:{name}:*",
        },
        {"Effect": "Allow", "Action": "logs:DescribeLogGroups", "Resource": "*"},
    )


def _run(
    emr: Any, application: str, role: str, bucket: str, sleep: Callable[[float], None]
) -> tuple[str, str]:
    logs = {
        "s3MonitoringConfiguration": {"logUri": f"s3://{bucket}/logs/"},
        "cloudWatchLoggingConfiguration": {
            "enabled": True,
            "logGroupName": bucket,
            "logTypes": {"SPARK_DRIVER": ["STDOUT"]},
        },
    }
    parameters = _PARAMETERS.format(bucket=bucket)
    spark = {"entryPoint": f"s3://{bucket}/job.py", "sparkSubmitParameters": parameters}
    run = emr.start_job_run(
        applicationId=application,
        executionRoleArn=role,
        jobDriver={"sparkSubmit": spark},
        configurationOverrides={"monitoringConfiguration": logs},
    )["jobRunId"]
    asked = {"applicationId": application, "jobRunId": run}
    state = ""
    try:
        state = _wait_for_end(emr, asked, sleep)
    finally:
        if state not in _ENDED:  # an application cannot be stopped while a run of it goes on
            emr.cancel_job_run(**asked)
            state = _wait_for_end(emr, asked, sleep)
    return state, str(run)


def _wait_for_end(emr: Any, asked: dict[str, Any], sleep: Callable[[float], None]) -> str:
    """Return the state of a run when it has ended, or took too long."""
    deadline = time.monotonic() + _SECONDS
    while (state := emr.get_job_run(**asked)["jobRun"]["state"]) not in _ENDED:
        if time.monotonic() > deadline:
            break
        sleep(_POLL_SECONDS)
    return str(state)


def _make_archive() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("in_the_archive.py", "")
    return buffer.getvalue()


def _read_output(s3: Any, bucket: str, application: str, run: str) -> str | None:
    key = f"logs/applications/{application}/jobs/{run}/SPARK_DRIVER/stdout.gz"
    try:
        packed = s3.get_object(Bucket=bucket, Key=key)["Body"].read()
    except s3.exceptions.NoSuchKey:
        return None
    return gzip.decompress(packed).decode() or None


@contextlib.contextmanager
def _application(emr: Any, name: str, sleep: Callable[[float], None]) -> Iterator[str]:
    made = emr.create_application(
        name=name, releaseLabel=RELEASE, type="SPARK", architecture="ARM64"
    )["applicationId"]
    try:
        yield made
    finally:
        deadline = time.monotonic() + _SECONDS
        emr.stop_application(applicationId=made)
        while emr.get_application(applicationId=made)["application"]["state"] not in _STOPPED:
            if time.monotonic() > deadline:
                break
            sleep(_POLL_SECONDS)
        emr.delete_application(applicationId=made)


def _empty(s3: Any, bucket: str) -> None:
    for found in s3.list_objects_v2(Bucket=bucket).get("Contents", []):
        s3.delete_object(Bucket=bucket, Key=found["Key"])
