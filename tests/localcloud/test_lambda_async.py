"""Asynchronous invocations: accepted at once, retried, told to destinations."""

from __future__ import annotations

import json

import pytest

from localcloud.functions import asynchronous
from tests.fixtures.functions import allow, deploy, invoke, make_queue, make_role, wait_until

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
    monkeypatch.setattr(asynchronous, "_RETRY_SECONDS", (0.05, 0.05))


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


def test_an_event_is_accepted_and_handled_later(client, calls):
    read, settings = calls
    send(client, deploy(client, _FAILING, **settings), {"fails": False})
    wait_until("the call", lambda: len(read()) == 1)


def test_a_failure_is_tried_three_times_then_told(client, calls):
    read, settings = calls
    queue, take = make_queue(client)
    role = make_role(client)
    allow(client, role, "sqs:SendMessage")
    name = deploy(client, _FAILING, Role=role, **settings)
    client("lambda").put_function_event_invoke_config(
        FunctionName=name, DestinationConfig={"OnFailure": {"Destination": queue}}
    )
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


def test_retries_can_be_turned_off_and_success_be_told(client, calls):
    read, settings = calls
    queue, take = make_queue(client)
    role = make_role(client)
    allow(client, role, "sqs:SendMessage")
    name = deploy(client, _FAILING, Role=role, **settings)
    client("lambda").put_function_event_invoke_config(
        FunctionName=name,
        MaximumRetryAttempts=0,
        DestinationConfig={
            "OnSuccess": {"Destination": queue},
            "OnFailure": {"Destination": queue},
        },
    )
    send(client, name, {"fails": True})
    assert wait_until("failure", take)["requestContext"]["approximateInvokeCount"] == 1
    send(client, name, {"fails": False})
    record = wait_until("success", take)
    assert record["requestContext"]["condition"] == "Success"
    assert record["responsePayload"] == {"done": {"fails": False}}
    assert len(read()) == 2


def test_throttled_events_wait_and_are_not_lost(client, calls):
    read, settings = calls
    name = deploy(client, _FAILING, **settings)
    invoke(client, name, {"fails": False})
    client("lambda").put_function_concurrency(FunctionName=name, ReservedConcurrentExecutions=1)
    for _ in range(8):
        send(client, name, {"fails": False})
    wait_until("all calls", lambda: len(read()) == 9)
