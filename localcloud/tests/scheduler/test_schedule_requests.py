"""Schedules and groups: what is made of a request, and what is refused in the words of AWS."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from localcloud.testing.policies import allow, allow_role, keys_of, make_role, trust
from tests.account_ids import CONSUMER
from tests.refusals import refusal
from tests.scheduler.schedule_roles import ACCOUNT, REGION, SCHEDULER, trust_of_group

UNTRUSTED = (
    "ValidationException",
    "The execution role you provide must allow AWS EventBridge Scheduler to assume the role.",
)


def test_a_schedule_reads_back_with_the_defaults_of_aws(scheduler, asked):
    arn = scheduler.create_schedule(**asked)["ScheduleArn"]
    assert arn == f"arn:aws:scheduler:{REGION}:{ACCOUNT}:schedule/default/{asked['Name']}"

    found = scheduler.get_schedule(Name=asked["Name"])

    policy = {"MaximumEventAgeInSeconds": 86400, "MaximumRetryAttempts": 185}
    expected = asked | {
        "Arn": arn,
        "GroupName": "default",
        "ScheduleExpressionTimezone": "UTC",
        "State": "ENABLED",
        "ActionAfterCompletion": "NONE",
        "Target": asked["Target"] | {"RetryPolicy": policy},
    }
    assert {name: found[name] for name in expected} == expected
    assert found["CreationDate"] == found["LastModificationDate"]
    listed = scheduler.list_schedules(NamePrefix=asked["Name"], State="ENABLED")["Schedules"]
    assert [(each["Arn"], each["Target"]) for each in listed] == [
        (arn, {"Arn": asked["Target"]["Arn"]})
    ]


def test_an_update_replaces_every_setting(scheduler, asked):
    scheduler.create_schedule(**asked, Description="first", State="DISABLED")
    scheduler.update_schedule(**asked | {"ScheduleExpression": "rate(5 days)"})

    found = scheduler.get_schedule(Name=asked["Name"])

    assert (found["ScheduleExpression"], found["State"]) == ("rate(5 days)", "ENABLED")
    assert "Description" not in found
    assert found["CreationDate"] <= found["LastModificationDate"]


def test_a_name_is_used_once_and_a_repeated_request_is_the_same(scheduler, asked):
    first = scheduler.create_schedule(**asked, ClientToken="one")
    assert (
        scheduler.create_schedule(**asked, ClientToken="one")["ScheduleArn"]
        == (first["ScheduleArn"])
    )
    assert refusal(scheduler.create_schedule, **asked, ClientToken="two") == (
        "ConflictException",
        f"Schedule {asked['Name']} already exists.",
    )
    scheduler.delete_schedule(Name=asked["Name"])
    assert refusal(scheduler.get_schedule, Name=asked["Name"]) == (
        "ResourceNotFoundException",
        f"Schedule {asked['Name']} does not exist.",
    )
    assert refusal(scheduler.update_schedule, **asked)[0] == "ResourceNotFoundException"
    assert refusal(scheduler.delete_schedule, Name=asked["Name"])[0] == "ResourceNotFoundException"


def test_a_group_has_tags_and_takes_its_schedules_with_it(scheduler, client, asked, traced):
    name = asked["Name"]
    missing = ("ResourceNotFoundException", f"Schedule group {name} does not exist.")
    asked = asked | {"GroupName": name}
    invoking = allow("lambda:InvokeFunction", traced[0])
    asked["Target"] |= {"RoleArn": make_role(client("iam"), trust_of_group(name), invoking)}
    assert refusal(scheduler.create_schedule, **asked) == missing
    group = {"Name": name, "Tags": [{"Key": "a", "Value": "1"}]}
    arn = scheduler.create_schedule_group(**group)["ScheduleGroupArn"]
    assert refusal(scheduler.create_schedule_group, Name=name)[0] == "ConflictException"
    scheduler.create_schedule(**asked)

    scheduler.tag_resource(ResourceArn=arn, Tags=[{"Key": "b", "Value": "2"}])
    scheduler.untag_resource(ResourceArn=arn, TagKeys=["a"])
    assert scheduler.list_tags_for_resource(ResourceArn=arn)["Tags"] == [{"Key": "b", "Value": "2"}]
    assert scheduler.get_schedule_group(Name=name)["State"] == "ACTIVE"
    pages = scheduler.get_paginator("list_schedule_groups").paginate(
        PaginationConfig={"PageSize": 1}
    )
    assert {"default", name} <= {it["Name"] for page in pages for it in page["ScheduleGroups"]}
    assert scheduler.list_schedules(GroupName=name)["Schedules"]

    scheduler.delete_schedule_group(Name=name)
    assert refusal(scheduler.get_schedule_group, Name=name) == missing
    assert refusal(scheduler.get_schedule, Name=name, GroupName=name) == missing
    assert refusal(scheduler.list_tags_for_resource, ResourceArn=arn) == missing
    assert refusal(scheduler.delete_schedule_group, Name="default")[0] == "ValidationException"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ScheduleExpression": "rate(5 minute)"}, "Invalid Schedule Expression rate(5 minute)."),
        ({"ScheduleExpressionTimezone": "Mars/Base"}, "is not valid: Mars/Base"),
        ({"FlexibleTimeWindow": {"Mode": "FLEXIBLE"}}, "MaximumWindowInMinutes goes with"),
        (
            {"FlexibleTimeWindow": {"Mode": "OFF", "MaximumWindowInMinutes": 5}},
            "MaximumWindowInMinutes goes with",
        ),
        ({"StartDate": datetime(2026, 1, 1, tzinfo=UTC)}, "cannot be earlier than 5 minutes ago"),
        ({"EndDate": datetime(2026, 1, 1, tzinfo=UTC)}, "must be in the future"),
        ({"State": "PAUSED"}, "Member must satisfy enum value set: [ENABLED, DISABLED]"),
        ({"Name": "a b"}, "Member must satisfy regular expression pattern"),
        ({"KmsKeyArn": f"arn:aws:kms:{REGION}:{ACCOUNT}:key/a"}, "by a key of the customer's"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_request_that_aws_or_localcloud_cannot_run_is_refused(scheduler, asked, change, message):
    code, said = refusal(scheduler.create_schedule, **asked | change)
    assert code == "ValidationException"
    assert message in said


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"Arn": f"arn:aws:sqs:{REGION}:{ACCOUNT}:q"}, "localcloud's schedules invoke Lambda"),
        ({"SqsParameters": {"MessageGroupId": "a"}}, "localcloud's schedules invoke Lambda"),
        ({"Input": "not json"}, "Invalid Input for target"),
        ({"RetryPolicy": {"MaximumRetryAttempts": 186}}, "less than or equal to 185"),
        (
            {"DeadLetterConfig": {"Arn": f"arn:aws:sqs:{REGION}:{ACCOUNT}:q.fifo"}},
            "Member must satisfy regular expression pattern",
        ),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_target_that_cannot_be_invoked_is_refused(scheduler, asked, change, message):
    code, said = refusal(scheduler.create_schedule, **asked | {"Target": asked["Target"] | change})
    assert code == "ValidationException"
    assert message in said


@pytest.mark.parametrize(
    "policy",
    [
        trust({"Service": "lambda.amazonaws.com"}),
        trust_of_group(account=CONSUMER),
        trust_of_group("other"),
        trust(
            SCHEDULER,
            Condition={
                "ArnLike": {
                    "aws:SourceArn": f"arn:aws:scheduler:{REGION}:{ACCOUNT}:schedule/default/*"
                }
            },
        ),
    ],
    ids=["another service", "another account", "another group", "the schedule's own ARN"],
)
def test_a_role_must_trust_the_scheduler_for_the_group(scheduler, client, asked, policy):
    asked["Target"]["RoleArn"] = make_role(client("iam"), policy)
    assert refusal(scheduler.create_schedule, **asked) == UNTRUSTED


def test_a_role_of_another_account_is_refused(scheduler, asked):
    asked["Target"]["RoleArn"] = f"arn:aws:iam::{CONSUMER}:role/deploy"
    assert refusal(scheduler.create_schedule, **asked) == (
        "AccessDeniedException",
        "Cross-account pass role is not allowed.",
    )


def test_the_creator_of_a_schedule_needs_the_right_and_passes_the_role(client, asked, role):
    iam = client("iam")
    deployer = make_role(iam, trust(ACCOUNT), allow("scheduler:CreateSchedule"))
    taken = client("sts").assume_role(RoleArn=deployer, RoleSessionName="test")["Credentials"]
    acting = client("scheduler", **keys_of(taken))

    code, said = refusal(acting.create_schedule, **asked)
    assert (code, f"iam:PassRole on resource: {role}" in said) == ("AccessDeniedException", True)

    passing = allow(
        "iam:PassRole",
        role,
        Condition={"StringEquals": {"iam:PassedToService": SCHEDULER["Service"]}},
    )
    ours = f"arn:aws:scheduler:{REGION}:{ACCOUNT}:schedule/default/"
    allow_role(deployer, iam, allow("scheduler:*", f"{ours}other"), passing)
    code, said = refusal(acting.create_schedule, **asked)
    assert f"scheduler:CreateSchedule on resource: {ours}{asked['Name']}" in said
    assert refusal(acting.list_schedules)[0] == "AccessDeniedException"

    allow_role(deployer, iam, allow("scheduler:*", f"{ours}{asked['Name']}"), passing)
    acting.create_schedule(**asked)
    assert acting.get_schedule(Name=asked["Name"])["Target"]["RoleArn"] == role
