"""Clusters of EMR as the tests ask for them and wait for them."""

from __future__ import annotations

import gzip
import json

from localcloud.testing import wait_until

ENDED = ("TERMINATED", "TERMINATED_WITH_ERRORS")
# A line with a metric, in CloudWatch's embedded metric format.
METRIC = json.dumps(
    {
        "_aws": {
            "Timestamp": 1_700_000_000_000,
            "CloudWatchMetrics": [
                {
                    "Namespace": "Penstock",
                    "Dimensions": [["service"]],
                    "Metrics": [{"Name": "RecordsSeen"}],
                }
            ],
        },
        "service": "SERVICE",
        "RecordsSeen": 1,
    }
)
METRIC = METRIC.replace("{", "{{").replace("}", "}}").replace("SERVICE", "{service}")
_SECONDS = 900


def state_of(emr, cluster):
    return emr.describe_cluster(ClusterId=cluster)["Cluster"]["Status"]["State"]


def wait_cluster(emr, cluster, *states):
    def reached():
        status = emr.describe_cluster(ClusterId=cluster)["Cluster"]["Status"]
        return status if status["State"] in states else None

    return wait_until(f"{states} of {cluster}", reached, _SECONDS)


def submit(name, *words, **given):
    step = {"Jar": "command-runner.jar", "Args": ["spark-submit", *words]}
    return {"Name": name, "HadoopJarStep": step} | given


def bootstrap(path, *args):
    return {"Name": "packages", "ScriptBootstrapAction": {"Path": path, "Args": list(args)}}


def wait_step(emr, cluster, step):
    def ended():
        status = emr.describe_step(ClusterId=cluster, StepId=step)["Step"]["Status"]
        return status if status["State"] in {"COMPLETED", "FAILED", "CANCELLED"} else None

    return wait_until(f"the end of {step}", ended, _SECONDS)


def read_log(client, bucket, key):
    body = client("s3").get_object(Bucket=bucket, Key=key)["Body"].read()
    return gzip.decompress(body).decode()


def list_steps(emr, cluster):
    return emr.list_steps(ClusterId=cluster)["Steps"]


def find_metrics(client, service):
    """Return the names of the metrics that CloudWatch has of a service."""
    dimensions = [{"Name": "service", "Value": service}]
    found = client("cloudwatch").list_metrics(Namespace="Penstock", Dimensions=dimensions)
    return [each["MetricName"] for each in found["Metrics"]]
