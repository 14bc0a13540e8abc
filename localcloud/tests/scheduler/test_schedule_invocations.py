"""When schedules fire, as whom, and what happens to an invocation that fails."""

from __future__ import annotations

import json
import secrets
from datetime import UTC, datetime, timedelta

import pytest

from localcloud.services.scheduler import delivery
from localcloud.services.scheduler.model import Schedules
from localcloud.testing import wait_until
from localcloud.testing.policies import allow, document, make_role
from tests.refusals import refusal
from tests.scheduler.schedule_roles import ACCOUNT, REGION, SCHEDULER, trust_of_group


def test_a_schedule_fires_when_it_is_due_and_is_deleted_after_its_end(scheduler, asked, traced):
    soon = datetime.now(UTC) + timedelta(seconds=2)
    asked["ScheduleExpression"] = f"at({soon:%Y-%m-%dT%H:%M:%S})"
    asked["Target"]["Input"] = json.dumps(
        {
            "who": asked["Name"],
            "arn": "<aws.scheduler.schedule-arn>",
            "at": "<aws.scheduler.scheduled-time>",
            "attempt": "<aws.scheduler.attempt-number>",
        }
    )
    arn = scheduler.create_schedule(**asked, ActionAfterCompletion="DELETE")["ScheduleArn"]

    def found():
        return [each for each in traced[1]() if each.get("who") == asked["Name"]]

    assert wait_until("the schedule to fire", found) == [
        {"who": asked["Name"], "arn": arn, "at": f"{soon:%Y-%m-%dT%H:%M:%SZ}", "attempt": "1"}
    ]
    assert refusal(scheduler.get_schedule, Name=asked["Name"])[0] == "ResourceNotFoundException"


def test_a_rate_without_a_start_fires_at_once_with_a_notification(scheduler, asked, traced):
    asked["ScheduleExpression"] = "rate(1 hour)"
    arn = scheduler.create_schedule(**asked)["ScheduleArn"]

    def found():
        return [each for each in traced[1]() if each.get("resources") == [arn]]

    (event,) = wait_until("the schedule to fire", found)
    assert {name: event[name] for name in ("detail-type", "source", "account", "detail")} == {
        "detail-type": "Scheduled Event",
        "source": "aws.scheduler",
        "account": ACCOUNT,
        "detail": "{}",
    }


def test_the_control_door_fires_an_enabled_schedule_and_status_shows_it(
    scheduler, door, fire, asked, traced
):
    asked["Target"]["Input"] = json.dumps({"who": asked["Name"]})
    arn = scheduler.create_schedule(**asked)["ScheduleArn"]

    assert fire(asked)["error"] is None
    wait_until("the event", lambda: {"who": asked["Name"]} in traced[1]())

    (shown,) = [each for each in door("status", "GET")["schedules"] if each["arn"] == arn]
    assert (shown["state"], shown["last"]) == ("ENABLED", "invoked")
    assert shown["next"].endswith("-01-01 00:00:00+00:00")
    scheduler.update_schedule(**asked, State="DISABLED")
    assert fire(asked) == {"error": f"schedule default/{asked['Name']} is DISABLED"}
    scheduler.delete_schedule(Name=asked["Name"])
    assert "does not exist" in fire(asked)["error"]


@pytest.fixture
def dead_letters(client):
    """Settings of a target whose role may only write to a queue, and its next message."""
    sqs, name = client("sqs"), f"q-{secrets.token_hex(4)}"
    url = sqs.create_queue(QueueName=name)["QueueUrl"]

    def take():
        found = sqs.receive_message(QueueUrl=url, MessageAttributeNames=["All"])
        return next(iter(found.get("Messages", [])), None)

    queue = f"arn:aws:sqs:{REGION}:{ACCOUNT}:{name}"
    role = make_role(client("iam"), trust_of_group(), allow("sqs:SendMessage", queue))
    return {"RoleArn": role, "DeadLetterConfig": {"Arn": queue}}, take


def read(message):
    """The attributes of a dead letter."""
    return {name: one["StringValue"] for name, one in message["MessageAttributes"].items()}


def test_a_missing_right_goes_to_the_dead_letter_queue_at_once(
    scheduler, fire, asked, dead_letters
):
    target, take = dead_letters
    asked["Target"] |= target | {"Input": '{"a": 1}'}
    arn = scheduler.create_schedule(**asked)["ScheduleArn"]

    answer = fire(asked)

    assert "is not authorized to perform: lambda:InvokeFunction" in answer["error"]
    message = take()
    attributes = read(message)
    assert message["Body"] == '{"a": 1}'
    assert "lambda:InvokeFunction" in attributes.pop("ERROR_MESSAGE")
    assert attributes.pop("SCHEDULED_TIME").endswith("Z")
    assert attributes == {
        "ERROR_CODE": "AccessDeniedException",
        "EXECUTION_ID": answer["execution_id"],
        "IS_PAYLOAD_TRUNCATED": "false",
        "RETRY_ATTEMPTS": "0",
        "SCHEDULE_ARN": arn,
        "TARGET_ARN": asked["Target"]["Arn"],
    }


def dropped_invocations(client):
    """The count of invocations that ended nowhere, from CloudWatch."""
    now = datetime.now(UTC)
    found = client("cloudwatch").get_metric_statistics(
        Namespace="AWS/Scheduler",
        MetricName="InvocationDroppedCount",
        Dimensions=[{"Name": "ScheduleGroup", "Value": "default"}],
        StartTime=now - timedelta(days=2),
        EndTime=now + timedelta(days=2),
        Period=86400,
        Statistics=["Sum"],
    )
    return sum(point["Sum"] for point in found["Datapoints"])


def test_a_trust_that_was_taken_away_ends_the_invocations(scheduler, client, fire, asked, traced):
    iam = client("iam")
    role = make_role(iam, trust_of_group(), allow("lambda:InvokeFunction", traced[0]))
    asked["Target"]["RoleArn"] = role
    scheduler.create_schedule(**asked)
    iam.update_assume_role_policy(
        RoleName=role.rpartition("/")[2],
        PolicyDocument=document(
            {"Effect": "Deny", "Principal": SCHEDULER, "Action": "sts:AssumeRole"}
        ),
    )

    dropped = dropped_invocations(client)
    assert fire(asked)["error"] == f"{role} does not let EventBridge Scheduler assume it"
    assert dropped_invocations(client) == dropped + 1


def test_a_throttled_invocation_is_retried_until_it_passes(scheduler, door, fire, asked, traced):
    asked["Target"]["Input"] = json.dumps(
        {"who": asked["Name"], "n": "<aws.scheduler.attempt-number>"}
    )
    scheduler.create_schedule(**asked)
    door("add-fault", kind="throttle", service="lambda", operation="Invoke", calls=2)

    assert "Rate exceeded" in fire(asked)["error"]

    wait_until("the third attempt", lambda: {"who": asked["Name"], "n": "3"} in traced[1]())


def test_retries_end_with_the_policy_and_the_event_in_the_queue(
    scheduler, door, fire, asked, dead_letters
):
    target, take = dead_letters
    policy = {"MaximumRetryAttempts": 2, "MaximumEventAgeInSeconds": 60}
    asked["Target"] |= target | {"RetryPolicy": policy}
    scheduler.create_schedule(**asked)
    door("add-fault", kind="error", service="lambda", operation="Invoke", calls=3)

    fire(asked)

    attributes = read(wait_until("the dead letter", take))
    assert (attributes["EXHAUSTED_RETRY_CONDITION"], attributes["RETRY_ATTEMPTS"]) == (
        "MaximumRetryAttempts",
        "2",
    )
    assert [fault["broken"] for fault in door("list-faults")] == [3]


def test_an_event_that_is_too_old_is_not_retried(cloud, scheduler, door, asked):
    asked["Target"]["RetryPolicy"] = {"MaximumEventAgeInSeconds": 60}
    scheduler.create_schedule(**asked)
    schedules = cloud.state(Schedules, ACCOUNT, REGION)
    schedule = schedules.by_key["default", asked["Name"]]
    door("add-fault", kind="error", service="lambda", operation="Invoke", calls=1)
    late = delivery.Delivery(cloud, schedule, datetime.now(UTC) - timedelta(seconds=61))

    assert late.attempt()
    assert late.error
