"""The question of `make aws-check` to EMR Serverless: the Python and environment of a driver."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import time
import uuid
import zipfile
from collections.abc import Callable, Iterator
from typing import Any, Final

from tools.aws_probes import Finding, make_bucket

RELEASE: Final = "emr-spark-8.1.0"
_SECONDS: Final = 900
_ENDED: Final = ("SUCCESS", "FAILED", "CANCELLED")
_STOPPED: Final = ("CREATED", "STOPPED", "TERMINATED")
_POLL_SECONDS: Final = 10
# Whether a module of an archive is found at the driver and at an executor, as the jobs need it.
_PROGRAM: Final = """
import importlib.util, json, os, sys
from pyspark.sql import SparkSession
def find(_=None):
    return importlib.util.find_spec("in_the_archive") is not None
numbers = SparkSession.builder.getOrCreate().sparkContext.parallelize([1], 1)
print(json.dumps({
    "python": ".".join(map(str, sys.version_info[:2])),
    "boto3": importlib.util.find_spec("boto3") is not None,
    "archive": [find(), *numbers.map(find).collect()],
    "region": {k: os.environ.get(k) for k in ("AWS_REGION", "AWS_DEFAULT_REGION")},
}))
"""
_PARAMETERS: Final = (
    "--archives s3://{bucket}/packages.zip#packages"
    " --conf spark.emr-serverless.driverEnv.PYTHONPATH=./packages"
    " --conf spark.executorEnv.PYTHONPATH=./packages"
)


def ask_spark_environment(session: Any, sleep: Callable[[float], None] = time.sleep) -> Finding:
    """Run a few lines of Python as a Spark job, and read what they print."""
    name = f"penstock-check-{uuid.uuid4().hex[:12]}"
    with contextlib.ExitStack() as made:
        bucket = made.enter_context(make_bucket(session, name))
        s3 = session.client("s3")
        s3.put_object(Bucket=bucket, Key="job.py", Body=_PROGRAM.encode())
        s3.put_object(Bucket=bucket, Key="packages.zip", Body=_make_archive())
        made.callback(_empty, s3, bucket)
        role = made.enter_context(_role(session.client("iam"), name))
        sleep(_POLL_SECONDS)  # a new role is not known everywhere at once
        emr = session.client("emr-serverless")
        application = made.enter_context(_application(emr, name, sleep))
        state, run = _run(emr, application, role, bucket, sleep)
        said = _read_output(s3, bucket, application, run)
    if said is None:
        return Finding(None, [f"the job ended {state} and printed nothing"])
    found = json.loads(said)
    region = found["region"]["AWS_REGION"]
    return Finding(all(found["archive"]) and region == session.region_name, [said.strip()])


def _run(
    emr: Any, application: str, role: str, bucket: str, sleep: Callable[[float], None]
) -> tuple[str, str]:
    logs = {"s3MonitoringConfiguration": {"logUri": f"s3://{bucket}/logs/"}}
    parameters = _PARAMETERS.format(bucket=bucket)
    spark = {"entryPoint": f"s3://{bucket}/job.py", "sparkSubmitParameters": parameters}
    run = emr.start_job_run(
        applicationId=application,
        executionRoleArn=role,
        jobDriver={"sparkSubmit": spark},
        configurationOverrides={"monitoringConfiguration": logs},
    )["jobRunId"]
    asked = {"applicationId": application, "jobRunId": run}
    deadline = time.monotonic() + _SECONDS
    while (state := emr.get_job_run(**asked)["jobRun"]["state"]) not in _ENDED:
        if time.monotonic() > deadline:
            emr.cancel_job_run(**asked)
            break
        sleep(_POLL_SECONDS)
    return str(state), str(run)


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
def _role(iam: Any, name: str) -> Iterator[str]:
    trust = {"Principal": {"Service": "emr-serverless.amazonaws.com"}, "Action": "sts:AssumeRole"}
    use = {
        "Action": ["s3:GetObject", "s3:ListBucket", "s3:PutObject"],
        "Resource": [f"arn:aws:s3:::{name}", f"arn:aws:s3:::{name}/*"],
    }
    role = iam.create_role(RoleName=name, AssumeRolePolicyDocument=_policy(trust))["Role"]
    try:
        iam.put_role_policy(RoleName=name, PolicyName="use", PolicyDocument=_policy(use))
        yield role["Arn"]
    finally:
        with contextlib.suppress(iam.exceptions.NoSuchEntityException):
            iam.delete_role_policy(RoleName=name, PolicyName="use")
        iam.delete_role(RoleName=name)


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


def _policy(statement: dict[str, Any]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow"} | statement]})
