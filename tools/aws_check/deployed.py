"""The questions to what is applied already: an account without it settles nothing, at no cost."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Callable
from typing import Any, Final

from tools.aws_check.findings import Finding

_CLUSTER: Final = "-emr"  # ends the names of infra/modules/emr-cluster
_SECONDS: Final = 900  # EMR brings logs to S3 every five minutes
_POLL_SECONDS: Final = 20
_ENDED: Final = ("CANCELLED", "COMPLETED", "FAILED", "INTERRUPTED")
_PROGRAM: Final = """
import json, os, pwd
from pyspark.sql import SparkSession
def look(_=None):
    return [pwd.getpwuid(os.getuid()).pw_name, os.access("/home/hadoop", os.R_OK | os.X_OK)]
numbers = SparkSession.builder.getOrCreate().sparkContext.parallelize([1], 1)
mode = oct(os.stat("/home/hadoop").st_mode & 0o777)
print(json.dumps({"driver": look(), "executor": numbers.map(look).first(), "mode": mode}))
"""


def ask_pollers(session: Any) -> Finding:
    """Read how the pollers of Kafka mappings fare behind the endpoint policies of their VPC."""
    pages = session.client("lambda").get_paginator("list_event_source_mappings").paginate()
    found = {
        mapping["FunctionArn"].rpartition(":")[2]: mapping.get("LastProcessingResult", "")
        for page in pages
        for mapping in page["EventSourceMappings"]
        if "SelfManagedEventSource" in mapping
    }
    if not found:
        return Finding(None, ["no consumer is applied here (docs/first-hour.md applies one)"])
    lines = [f"{function}: {result}" for function, result in sorted(found.items())]
    return Finding(not any(result.startswith("PROBLEM") for result in found.values()), lines)


def ask_cluster_users(session: Any, sleep: Callable[[float], None] = time.sleep) -> Finding:
    """Let a step of a running cluster tell who runs drivers and executors, and reads what."""
    emr = session.client("emr")
    running = emr.list_clusters(ClusterStates=["RUNNING", "WAITING"])["Clusters"]
    ours = [each["Id"] for each in running if each["Name"].endswith(_CLUSTER)]
    if not ours:
        return Finding(None, ["no cluster of spark.cluster runs here"])
    script = f"cat > /tmp/look.py <<'END'\n{_PROGRAM}END\nspark-submit /tmp/look.py"
    step = {
        "Name": "penstock-check",
        "ActionOnFailure": "CONTINUE",
        "HadoopJarStep": {"Jar": "command-runner.jar", "Args": ["bash", "-c", script]},
    }
    (made,) = emr.add_job_flow_steps(JobFlowId=ours[0], Steps=[step])["StepIds"]
    said = _await(emr, session.client("s3"), ours[0], made, sleep)
    if said is None:
        return Finding(None, [f"the step {made} of {ours[0]} printed nothing in {_SECONDS} s"])
    found = json.loads(said)
    return Finding(found["executor"] == ["yarn", False], [said.strip()])


def _await(
    emr: Any, s3: Any, cluster: str, step: str, sleep: Callable[[float], None]
) -> str | None:
    """Return what a step has printed, once it has ended and EMR has brought its log to S3."""
    log = emr.describe_cluster(ClusterId=cluster)["Cluster"]["LogUri"]
    bucket, _, folder = log.partition("://")[2].rstrip("/").partition("/")
    key = "/".join(filter(None, (folder, cluster, "steps", step, "stdout.gz")))
    deadline = time.monotonic() + _SECONDS
    ended = False
    while time.monotonic() < deadline:
        shown = emr.describe_step(ClusterId=cluster, StepId=step)["Step"]
        ended = shown["Status"]["State"] in _ENDED
        if ended:
            try:
                packed = s3.get_object(Bucket=bucket, Key=key)["Body"].read()
            except s3.exceptions.NoSuchKey:
                pass
            else:
                return gzip.decompress(packed).decode() or None
        sleep(_POLL_SECONDS)
    if not ended:  # a stream before it does not end
        emr.cancel_steps(ClusterId=cluster, StepIds=[step])
    return None
