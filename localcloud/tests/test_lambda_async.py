"""Asynchronous invocations: accepted at once, retried, told to destinations."""

from __future__ import annotations

import json
import secrets
from datetime import timedelta
from itertools import count

import pytest
from botocore.exceptions import ClientError

from localcloud.functions import async_invocation
from localcloud.metrics import clock
from localcloud.testing import allow, deploy, invoke, make_queue, make_role, wait_until

_FAILING = """
import os
def handler(event, context):
    with open(os.environ["TRACE"], "a") as trace:
        trace.write(context.aws_request_id + "\\n")
    if event["fails"]:
        raise ValueError("no")
    return {"done": event}
"""


@pytest.fixture(autouse=True)
def quick_retries(monkeypatch):
    """Two retries, without the pauses."""
    monkeypatch.setattr(async_invocation, "_RETRY_SECONDS", (0.05, 0.05))


@pytest.fixture
def calls(tmp_path):
    """The request ids of the calls, and the settings that have them written down."""
    path = tmp_path / "trace"
    variables = {"Environment": {"Variables": {"TRACE": str(path)}}}
    return (lambda: path.read_text().split() if path.exists() else []), variables


def send(client, name, event):
    answer = client("lambda").invoke(
        FunctionName=name, InvocationType="Event", Payload=json.dumps(event)
    )
    assert (answer["StatusCode"], answer["Payload"].read()) == (202, b"")


def deploy_reporting(client, settings, *conditions, **config):
    """Deploy a function whose outcomes go to a queue; return its name, and what takes a record."""
    queue, take = make_queue(client)
    role = make_role(client)
    allow(client, role, "sqs:SendMessage")
    name = deploy(client, _FAILING, Role=role, **settings)
    client("lambda").put_function_event_invoke_config(
        FunctionName=name,
        DestinationConfig={each: {"Destination": queue} for each in conditions},
        **config,
    )
    return name, take


def test_an_event_is_accepted_and_handled_later(client, calls):
    read, settings = calls
    send(client, deploy(client, _FAILING, **settings), {"fails": False})
    wait_until("the call", lambda: len(read()) == 1)


def test_a_failure_is_tried_three_times_and_then_reported(client, calls):
    read, settings = calls
    name, take = deploy_reporting(client, settings, "OnFailure")
    send(client, name, {"fails": True})
    record = wait_until("the failure record", take)
    assert len(read()) == 3
    assert len(set(read())) == 1  # all attempts have one request id
    context = record["requestContext"]
    assert context["condition"] == "RetriesExhausted"
    assert context["approximateInvokeCount"] == 3
    assert context["functionArn"].endswith(f":function:{name}:$LATEST")
    assert record["requestPayload"] == {"fails": True}
    assert record["responseContext"]["functionError"] == "Unhandled"
    assert record["responsePayload"]["errorMessage"] == "no"


def test_retries_can_be_turned_off_and_success_reported(client, calls):
    read, settings = calls
    name, take = deploy_reporting(
        client, settings, "OnSuccess", "OnFailure", MaximumRetryAttempts=0
    )
    send(client, name, {"fails": True})
    assert wait_until("failure", take)["requestContext"]["approximateInvokeCount"] == 1
    send(client, name, {"fails": False})
    record = wait_until("success", take)
    assert record["requestContext"]["condition"] == "Success"
    assert record["responsePayload"] == {"done": {"fails": False}}
    assert len(read()) == 2


def test_throttled_events_wait_and_are_not_lost(client, calls, raised_limit):
    read, settings = calls
    name = deploy(client, _FAILING, **settings)
    invoke(client, name, {"fails": False})
    client("lambda").put_function_concurrency(FunctionName=name, ReservedConcurrentExecutions=1)
    for _ in range(8):
        send(client, name, {"fails": False})
    wait_until("all calls", lambda: len(read()) == 9)


@pytest.mark.parametrize("throttled", [True, False])
def test_an_event_that_is_too_old_is_dropped(client, calls, monkeypatch, throttled):
    read, settings = calls
    name, take = deploy_reporting(client, settings, "OnFailure", MaximumEventAgeInSeconds=60)
    if throttled:
        client("lambda").put_function_concurrency(FunctionName=name, ReservedConcurrentExecutions=0)
    monkeypatch.setattr(async_invocation, "_clock", count(step=61).__next__)

    send(client, name, {"fails": True})

    record = wait_until("the failure record", take)
    context = record["requestContext"]
    attempts = 0 if throttled else 1
    assert (context["condition"], context["approximateInvokeCount"]) == (
        "EventAgeExceeded",
        attempts,
    )
    assert ("responsePayload" in record) is not throttled
    assert len(read()) == attempts


def keep_dead_letters(client, target, action, trace):
    """Deploy a function that fails, whose failed events go to the target."""
    role = make_role(client)
    allow(client, role, action, target)
    settings = {"DeadLetterConfig": {"TargetArn": target}, **trace}
    return deploy(client, _FAILING, Role=role, **settings)


def test_an_event_that_failed_is_kept_in_a_queue(client, calls):
    read, settings = calls
    sqs = client("sqs")
    url = sqs.create_queue(QueueName=f"q-{secrets.token_hex(4)}")["QueueUrl"]
    arn = f"arn:aws:sqs:eu-central-1:111111111111:{url.rpartition('/')[2]}"
    name = keep_dead_letters(client, arn, "sqs:SendMessage", settings)

    send(client, name, {"fails": True})

    def take():
        return sqs.receive_message(QueueUrl=url, MessageAttributeNames=["All"]).get("Messages")

    (message,) = wait_until("the dead letter", take)
    told = {key: value["StringValue"] for key, value in message["MessageAttributes"].items()}
    assert json.loads(message["Body"]) == {"fails": True}
    assert told == {"RequestID": read()[0], "ErrorCode": "200", "ErrorMessage": "no"}
    assert len(read()) == 3


def test_a_failed_event_is_published_to_a_topic(client, calls):
    sns = client("sns")
    topic = sns.create_topic(Name=f"t-{secrets.token_hex(4)}")["TopicArn"]
    queue, take = make_queue(client)
    sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=queue)
    name = keep_dead_letters(client, topic, "sns:Publish", calls[1])

    send(client, name, {"fails": True})

    told = wait_until("the dead letter", take)
    assert json.loads(told["Message"]) == {"fails": True}
    assert told["MessageAttributes"]["ErrorMessage"]["Value"] == "no"


def test_dead_letters_are_shown_changed_and_forgotten(client):
    lambda_ = client("lambda")
    queue, _ = make_queue(client)
    role = make_role(client)
    allow(client, role, "sqs:SendMessage", queue)
    name = deploy(client, Role=role)

    def shown():
        return lambda_.get_function(FunctionName=name)["Configuration"].get("DeadLetterConfig")

    def change(target):
        return lambda_.update_function_configuration(
            FunctionName=name, DeadLetterConfig={"TargetArn": target}
        )

    assert shown() is None
    assert change(queue)["DeadLetterConfig"] == shown() == {"TargetArn": queue}
    lambda_.update_function_configuration(FunctionName=name, Timeout=5)
    assert lambda_.get_function_configuration(FunctionName=name)["DeadLetterConfig"] == shown()
    change("")
    assert shown() is None
    change(queue)
    lambda_.delete_function(FunctionName=name)
    deploy(client, Role=role, FunctionName=name)
    assert shown() is None


@pytest.mark.parametrize(
    ("target", "said"),
    [
        (
            "arn:aws:sqs:eu-central-1:111111111111:q",
            "The provided execution role does not have permissions to call SendMessage on SQS",
        ),
        (
            "arn:aws:s3:eu-central-1:111111111111:b",
            "the dead-letter target is arn:aws:s3:eu-central-1:111111111111:b, expected the ARN of "
            "a queue or a topic",
        ),
    ],
)
def test_dead_letters_that_could_not_be_kept_are_refused(client, target, said):
    with pytest.raises(ClientError, match=said):
        deploy(client, DeadLetterConfig={"TargetArn": target})


def test_a_dead_letter_is_kept_although_the_destination_is_gone(client):
    kept, take = make_queue(client)
    gone, _ = make_queue(client)
    role = make_role(client)
    allow(client, role, "sqs:SendMessage")
    name = deploy(
        client,
        "def handler(e, c):\n    raise ValueError('no')\n",
        Role=role,
        DeadLetterConfig={"TargetArn": kept},
    )
    client("lambda").put_function_event_invoke_config(
        FunctionName=name,
        MaximumRetryAttempts=0,
        DestinationConfig={"OnFailure": {"Destination": gone}},
    )
    url = client("sqs").get_queue_url(QueueName=gone.rpartition(":")[2])["QueueUrl"]
    client("sqs").delete_queue(QueueUrl=url)

    send(client, name, {"a": 1})

    assert wait_until("the dead letter", take) == {"a": 1}


def test_an_event_that_no_queue_takes_is_counted_and_kept_in_a_bucket(client, calls):
    queue, _ = make_queue(client, MaximumMessageSize="262144")
    s3, name = client("s3"), f"b-{secrets.token_hex(4)}"
    s3.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": "eu-central-1"})
    role = make_role(client)
    allow(client, role, "*")
    dead = {"DeadLetterConfig": {"TargetArn": queue}}
    settings = calls[1] | dead
    functions = [deploy(client, _FAILING, Role=role, **settings) for _ in range(2)]
    for function, target in zip(functions, (f"arn:aws:s3:::{name}", queue), strict=True):
        client("lambda").put_function_event_invoke_config(
            FunctionName=function,
            MaximumRetryAttempts=0,
            DestinationConfig={"OnFailure": {"Destination": target}},
        )
    event = {"fails": True, "large": "x" * 262_144}

    for function in functions:
        send(client, function, event)

    def count(metric, function):
        found = client("cloudwatch").get_metric_statistics(
            Namespace="AWS/Lambda",
            MetricName=metric,
            Dimensions=[{"Name": "FunctionName", "Value": function}],
            StartTime=clock.now() - timedelta(hours=1),  # tests of alarms put it forward
            EndTime=clock.now() + timedelta(hours=1),
            Period=3600,
            Statistics=["Sum"],
        )["Datapoints"]
        return sum(each["Sum"] for each in found)

    for function in functions:
        wait_until("the count", lambda function=function: count("DeadLetterErrors", function) == 1)
    lost = [count("DestinationDeliveryFailures", function) for function in functions]
    assert lost == [0, 1]
    start = f"aws/lambda/async/{functions[0]}/"
    (kept,) = s3.list_objects_v2(Bucket=name, Prefix=start)["Contents"]
    record = json.loads(s3.get_object(Bucket=name, Key=kept["Key"])["Body"].read())
    assert record["requestPayload"] == event


def test_a_version_is_retried_by_its_own_configuration(client, calls):
    read, settings = calls
    name, take = deploy_reporting(client, settings, "OnFailure", MaximumRetryAttempts=0)
    lambda_ = client("lambda")
    version = lambda_.publish_version(FunctionName=name)["Version"]

    send(client, f"{name}:{version}", {"fails": True})

    wait_until("three calls", lambda: len(read()) == 3)
    send(client, name, {"fails": True})
    record = wait_until("the failure record", take)
    assert record["requestContext"]["functionArn"].endswith(":$LATEST")
    assert len(read()) == 4
