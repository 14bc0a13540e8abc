"""Steps of an EMR cluster: add one by its command, and wait for its end with its log."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from botocore.exceptions import BotoCoreError, ClientError

from penstock.aws import Fault, classify
from penstock.errors import JobError, OperationError
from penstock.operations.clients import build_client
from penstock.progress import ReportProgress

ADD_STEPS = ["aws", "emr", "add-steps"]
_RUNNER = "command-runner.jar"
_FINAL = ("COMPLETED", "FAILED", "CANCELLED", "INTERRUPTED")
_POLL_SECONDS = 10.0
# EMR Management Guide, "View log files": logs are copied to S3 every five minutes.
_LOG_POLLS = 36
_SHOWN_LINES = 30


@dataclass(frozen=True, slots=True)
class JobStep:
    """A step that a cluster accepted."""

    region: str
    cluster_id: str
    id: str

    def __str__(self) -> str:
        return f"step {self.id} of cluster {self.cluster_id}"


def add_step(words: Sequence[str], flags: Sequence[str]) -> JobStep:
    """Add the step of an `aws emr add-steps` command, with more arguments of the job.

    Raises:
        OperationError: the cluster has ended or the step is rejected.
    """
    options = dict(zip(words[::2], words[1::2], strict=True))
    region, cluster = options["--region"], options["--cluster-id"]
    (step,) = json.loads(options["--steps"])
    request = {
        "Name": step["Name"],
        "ActionOnFailure": step["ActionOnFailure"],
        # The AWS CLI sends these arguments for a step of the type Spark.
        "HadoopJarStep": {"Jar": _RUNNER, "Args": ["spark-submit", *step["Args"], *flags]},
    }
    try:
        answer = build_client("emr", region=region).add_job_flow_steps(
            JobFlowId=cluster, Steps=[request]
        )
    except (ClientError, BotoCoreError) as error:
        said = f"the step was not added to cluster {cluster}: {str(error).rstrip('.')}"
        if "job flow" in str(error):  # EMR's words for a cluster that has ended
            said += "; a cluster ends when it is idle, and an apply of the root makes a new one"
        raise OperationError(said) from error
    return JobStep(region, cluster, answer["StepIds"][0])


def explain_unknown(run: object, name: str, error: Exception) -> OperationError:
    """Return an error for a run that EMR does not describe, with its id as `name`."""
    return OperationError(
        f"{run} cannot be described: {str(error).rstrip('.')}; it may still run, see "
        f"`penstock jobs show {name}`"
    )


def wait_for_step(step: JobStep, pause: Callable[[float], None], report: ReportProgress) -> str:
    """Wait until a step has ended well, and return its state.

    Raises:
        JobError: it did not complete; the message has the end of its log.
        OperationError: it cannot be asked, and may still run.
    """
    emr = build_client("emr", region=step.region)
    while True:
        try:
            shown = emr.describe_step(ClusterId=step.cluster_id, StepId=step.id)["Step"]
        except (ClientError, BotoCoreError) as error:
            raise explain_unknown(step, step.id, error) from error
        state: str = shown["Status"]["State"]
        if state in _FINAL:
            break
        report(f"{step} is {state}", None, None)
        pause(_POLL_SECONDS)
    if state == "FAILED":
        report(f"{step} is FAILED, EMR copies its log", None, None)
        raise JobError(f"{step} is FAILED\n{_read_log(emr, step, pause)}")
    if state != "COMPLETED":
        raise JobError(f"{step} is {state}")
    return state


def _read_log(emr: Any, step: JobStep, pause: Callable[[float], None]) -> str:
    """Return the end of what a step printed: PySpark's tracebacks are on its standard output."""
    try:
        uri = emr.describe_cluster(ClusterId=step.cluster_id)["Cluster"].get("LogUri", "")
    except (ClientError, BotoCoreError) as error:
        return f"its log is not known: {error}"
    if not uri:
        return "the cluster keeps no logs"
    place = urlsplit(uri)  # EMR writes s3n:// for s3://
    start = f"{place.path.strip('/')}/{step.cluster_id}/steps/{step.id}".lstrip("/")
    s3 = build_client("s3", region=step.region)
    why = ""
    for _ in range(_LOG_POLLS):
        text, why = _read_tails(s3, place.netloc, start)
        if text:
            return text
        pause(_POLL_SECONDS)
    said = f"its log is not in s3://{place.netloc}/{start}/ yet"
    return f"{said}, or cannot be read: {why}" if why else said


def _read_tails(s3: Any, bucket: str, start: str) -> tuple[str, str]:
    """Return the last lines of the logs that are there, and why one cannot be read.

    S3 denies an object that is missing to a caller who may not list the bucket.
    """
    found, why = [], ""
    for name in ("stderr", "stdout"):
        try:
            body = s3.get_object(Bucket=bucket, Key=f"{start}/{name}.gz")["Body"].read()
        except (ClientError, BotoCoreError) as error:
            if classify(error) is not Fault.MISSING:
                why = str(error)
            continue
        lines = gzip.decompress(body).decode(errors="replace").splitlines()
        found.append("\n".join(lines[-_SHOWN_LINES:]))
    return "\n".join(filter(None, found)), why
