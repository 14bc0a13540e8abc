"""What a function leaves in its log, and what of it comes with the answer."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta

from localcloud.testing import deploy
from localcloud.testing.policies import allow, allow_role, make_role, trust

_LAMBDA = {"Service": "lambda.amazonaws.com"}

_COUNTS = """
import json
def handler(event, context):
    metric = {"Namespace": "lost", "Dimensions": [[]], "Metrics": [{"Name": "Calls"}]}
    print(json.dumps({"_aws": {"Timestamp": 0, "CloudWatchMetrics": [metric]}, "Calls": 1}))
"""


def test_the_log_has_what_lambda_and_the_function_write(client):
    source = """
import logging
print("at import")
def handler(event, context):
    print("from print")
    logging.getLogger().warning("from logging")
"""
    name = deploy(client, source)
    answer = client("lambda").invoke(FunctionName=name, Payload=b"{}", LogType="Tail")
    request_id = answer["ResponseMetadata"]["RequestId"]
    logs, group = client("logs"), f"/aws/lambda/{name}"
    (stream,) = logs.describe_log_streams(logGroupName=group)["logStreams"]
    events = logs.get_log_events(
        logGroupName=group, logStreamName=stream["logStreamName"], startFromHead=True
    )["events"]
    lines = [event["message"].rstrip("\n") for event in events]
    assert "/[$LATEST]" in stream["logStreamName"]
    assert lines[0] == "at import"
    assert lines[1] == f"START RequestId: {request_id} Version: $LATEST"
    assert lines[2] == "from print"
    assert lines[3].startswith("[WARNING]\t")
    assert lines[3].endswith(f"\t{request_id}\tfrom logging")
    assert lines[4] == f"END RequestId: {request_id}"
    assert lines[5].startswith(f"REPORT RequestId: {request_id}\tDuration: ")
    assert "Memory Size: 128 MB\tMax Memory Used: " in lines[5]
    assert "Init Duration: " in lines[5]
    tail = base64.b64decode(answer["LogResult"]).decode()
    assert tail.splitlines()[-6:] == lines


def test_all_that_was_printed_comes_before_the_end(client):
    name = deploy(client, "def handler(e, c):\n    for n in range(20_000):\n        print(n)\n")
    answer = client("lambda").invoke(FunctionName=name, LogType="Tail")
    lines = base64.b64decode(answer["LogResult"]).decode().splitlines()
    assert lines[-3] == "19999"
    assert lines[-2].startswith("END RequestId: ")
    assert lines[-1].startswith("REPORT RequestId: ")


def test_the_tail_is_only_given_when_asked_for_and_is_at_most_4_kb(client):
    name = deploy(client, "def handler(e, c):\n    print('x' * 10_000)\n")
    plain = client("lambda").invoke(FunctionName=name)
    tailed = client("lambda").invoke(FunctionName=name, LogType="Tail")
    assert "LogResult" not in plain
    assert len(base64.b64decode(tailed["LogResult"])) == 4096


def test_a_function_without_permission_to_log_has_no_log(client):
    iam, logs = client("iam"), client("logs")
    role = make_role(iam, trust(_LAMBDA), allow(["logs:CreateLogStream", "logs:PutLogEvents"]))
    name = deploy(client, "def handler(e, c):\n    print('x')\n", Role=role)
    answer = client("lambda").invoke(FunctionName=name, Payload=b"{}", LogType="Tail")
    assert "REPORT RequestId" in base64.b64decode(answer["LogResult"]).decode()
    group = f"/aws/lambda/{name}"
    assert logs.describe_log_groups(logGroupNamePrefix=group)["logGroups"] == []

    logs.create_log_group(logGroupName=group)  # as Terraform does, so that this right is not needed
    name = deploy(client, "def handler(e, c):\n    print('y')\n", Role=role)
    logs.create_log_group(logGroupName=f"/aws/lambda/{name}")
    client("lambda").invoke(FunctionName=name, Payload=b"{}")
    assert logs.describe_log_streams(logGroupName=f"/aws/lambda/{name}")["logStreams"]
    allow_role(role, iam, allow("logs:CreateLogStream"))
    name = deploy(client, Role=role)
    logs.create_log_group(logGroupName=f"/aws/lambda/{name}")
    client("lambda").invoke(FunctionName=name, Payload=b"{}")
    assert logs.describe_log_streams(logGroupName=f"/aws/lambda/{name}")["logStreams"] == []


def test_a_metric_in_a_line_that_is_lost_is_no_metric(client):
    name = deploy(client, _COUNTS)
    client("lambda").invoke(FunctionName=name, Payload=b"{}")
    client("logs").delete_log_group(logGroupName=f"/aws/lambda/{name}")

    client("lambda").invoke(FunctionName=name, Payload=b"{}")

    now = datetime.now(UTC)
    found = client("cloudwatch").get_metric_statistics(
        Namespace="lost",
        MetricName="Calls",
        StartTime=now - timedelta(days=1),
        EndTime=now + timedelta(days=9),  # other tests put the clock forward
        Period=86400,
        Statistics=["Sum"],
    )["Datapoints"]
    assert sum(point["Sum"] for point in found) == 1
