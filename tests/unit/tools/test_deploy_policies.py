"""The published deploy policies are up to date, within IAM's limits, and as narrow as they say."""

from __future__ import annotations

import json
import re
import subprocess

import pytest

from localcloud.identity.policies import Request, Verdict, judge_identity
from tools import deploy_policies
from tools.deploy_policies import FOLDER, KINDS, MOST_CHARACTERS, make_files, read_policies

_ROLE_TAKES = 10
_ACTIONS = FOLDER / "actions"


def test_the_policies_are_those_that_the_data_make(capsys: pytest.CaptureFixture[str]) -> None:
    found = {path.name: path.read_text() for path in FOLDER.glob("*.json")}

    assert found == make_files(), "run tools/deploy_policies.py --write"


@pytest.mark.parametrize("kind", KINDS)
def test_a_role_can_have_the_policies_also_with_the_longest_prefix_in_govcloud(kind: str) -> None:
    policies = read_policies(kind)

    assert 0 < len(policies) <= _ROLE_TAKES
    for policy in policies:
        text = re.sub(r"\s", "", json.dumps(policy))
        longest = text.replace("penstock", "a" * 24).replace("arn:aws:", "arn:aws-us-gov:")
        assert len(longest) <= MOST_CHARACTERS
        sids = [statement["Sid"] for statement in policy["Statement"]]
        assert len(sids) == len(set(sids))
        assert all(re.fullmatch("[A-Za-z0-9]+", sid) for sid in sids)


@pytest.mark.parametrize("kind", KINDS)
def test_no_role_may_do_everything_of_a_service(kind: str) -> None:
    statements = [one for policy in read_policies(kind) for one in policy["Statement"]]

    assert [action for one in statements for action in one["Action"] if "*" in action] == []
    passing = [one for one in statements if "iam:PassRole" in one["Action"]]
    assert all("iam:PassedToService" in one["Condition"]["StringEquals"] for one in passing)


@pytest.mark.parametrize("kind", ["producer", "consumer"])
def test_a_deployer_writes_roles_by_one_statement_and_takes_no_boundary_off(kind: str) -> None:
    statements = [one for policy in read_policies(kind) for one in policy["Statement"]]
    roles = "arn:aws:iam::*:role/penstock-*"

    actions = {action for one in statements for action in one["Action"]}
    assert "iam:DeleteRolePermissionsBoundary" not in actions
    for action in (
        "iam:AttachRolePolicy",
        "iam:CreateRole",
        "iam:PutRolePermissionsBoundary",
        "iam:PutRolePolicy",
    ):
        granting = [one for one in statements if action in one["Action"]]
        assert [one["Sid"] for one in granting if roles in one["Resource"]] == ["WriteRoles"]
    attaching = [one["Resource"] for one in statements if "iam:AttachRolePolicy" in one["Action"]]
    others = [one for one in attaching if one != roles]
    assert all(":role/aws-service-role/kafka.amazonaws.com/" in one for one in others)


def test_an_untested_action_has_a_reason_and_a_source() -> None:
    unseen = json.loads((_ACTIONS / "unseen.json").read_text())
    seen = json.loads((_ACTIONS / "seen.json").read_text())

    for one in unseen:
        assert one["why"] and one["source"]
        known = set.intersection(*(set(seen.get(kind, [])) for kind in one["for"]))
        assert known & {*one["actions"]} == set(), "take it out of unseen.json: the tests see it"


def test_an_action_of_a_service_without_resources_is_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(deploy_policies, "_list_actions", lambda _: {"batch:SubmitJob"})

    with pytest.raises(SystemExit, match=r"batch:SubmitJob: add batch to .*services\.json"):
        make_files()


def test_a_policy_that_is_not_up_to_date_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["deploy_policies"])
    monkeypatch.setattr(deploy_policies, "make_files", dict)

    assert deploy_policies.main() == 1
    assert "docs/deploy-policies/producer-1.json: run tools/deploy_policies.py --write" in (
        capsys.readouterr().out
    )


_START, _END, _INVOKE = "ssm:StartSession", "ssm:TerminateSession", "lambda:InvokeFunction"
_PASS, _READ, _REPLACE = "iam:PassRole", "s3:GetObject", "ecs:UpdateService"


@pytest.mark.parametrize(
    ("action", "resource", "context", "verdict"),
    [
        (_START, "ec2:x:1:instance/i-1", {"ssm:resourceTag/Name": "penstock-a"}, True),
        (_START, "ec2:x:1:instance/i-1", {"ssm:resourceTag/Name": "other"}, False),
        (_START, "ssm:x:1:document/AWS-RunShellScript", {}, False),
        (_END, "ssm:x:1:session/AROA:me-0a", {"aws:userid": "AROA:me"}, True),
        (_END, "ssm:x:1:session/AROA:you-0a", {"aws:userid": "AROA:me"}, False),
        (_INVOKE, "lambda:x:1:function:penstock-a-retry-shop", {}, True),
        (_INVOKE, "lambda:x:1:function:penstock-producer", {}, False),
        (_REPLACE, "ecs:x:1:service/c/penstock-analytics-service-service-a", {}, True),
        (_REPLACE, "ecs:x:1:service/c/other", {}, False),
        (_READ, "s3:::penstock-emr-logs-1-x/j-1/steps/s-1/stderr.gz", {}, True),
        (_READ, "s3:::penstock-analytics-emr-logs-1-x/j-1/steps/s-1/stderr.gz", {}, True),
        (_READ, "s3:::penstock-rejected-1-x/a", {}, False),
    ],
)
def test_an_operator_opens_hosts_replaces_tasks_reads_logs_and_invokes_scheduled_functions(
    action: str, resource: str, context: dict[str, str], verdict: bool
) -> None:
    statements = [each for policy in read_policies("operator") for each in policy["Statement"]]

    found = judge_identity(statements, Request(action, f"arn:aws:{resource}", context))

    assert (found is Verdict.ALLOWED) == verdict


def test_a_deployer_invokes_the_function_of_topics_by_its_version_as_terraform_does() -> None:
    statements = [each for policy in read_policies("producer") for each in policy["Statement"]]
    request = Request(_INVOKE, "arn:aws:lambda:x:1:function:penstock-access:$LATEST", {})

    assert judge_identity(statements, request) is Verdict.ALLOWED


@pytest.mark.parametrize(
    ("kind", "role", "service", "verdict"),
    [
        ("services", "penstock-analytics-client-service-a", "ecs-tasks", True),
        ("services", "penstock-analytics-service-start", "ecs-tasks", True),
        ("services", "penstock-analytics-client-service-a", "ec2", False),
        ("services", "penstock-analytics-consumer", "ecs-tasks", False),
        ("cdc", "penstock-cdc-films", "kafkaconnect", True),
        ("cdc", "penstock-cdc-films", "lambda", False),
        ("cdc", "penstock-producer", "kafkaconnect", False),
        ("operator", "penstock-job-load", "emr-serverless", True),
        ("operator", "penstock-analytics-job-load", "emr-serverless", True),
        ("operator", "penstock-producer", "emr-serverless", False),
    ],
)
def test_a_deployer_of_an_extension_and_an_operator_pass_their_roles(
    kind: str, role: str, service: str, verdict: bool
) -> None:
    statements = [each for policy in read_policies(kind) for each in policy["Statement"]]
    context = {"iam:PassedToService": f"{service}.amazonaws.com"}

    found = judge_identity(statements, Request(_PASS, f"arn:aws:iam::1:role/{role}", context))

    assert (found is Verdict.ALLOWED) == verdict


@pytest.mark.parametrize(
    ("alarm", "by", "verdict"),
    [
        ("penstock-broker-1-disk", None, True),
        ("", None, True),  # what Application Auto Scaling asks, to see what the caller may do
        ("TargetTracking-penstock", "application-autoscaling.amazonaws.com", True),
        ("TargetTracking-penstock", None, False),
        ("others", None, False),
    ],
)
@pytest.mark.parametrize("action", ["cloudwatch:DeleteAlarms", "cloudwatch:PutMetricAlarm"])
def test_a_producer_writes_alarms_of_others_only_by_auto_scaling(
    action: str, alarm: str, by: str | None, verdict: bool
) -> None:
    statements = [each for policy in read_policies("producer") for each in policy["Statement"]]
    context = {"aws:CalledViaLast": by} if by else {}
    request = Request(action, f"arn:aws:cloudwatch:x:1:alarm:{alarm}", context)

    assert (judge_identity(statements, request) is Verdict.ALLOWED) == verdict


def test_a_deployer_of_cdc_finds_its_database_by_an_id_that_names_none() -> None:
    statements = [each for policy in read_policies("cdc") for each in policy["Statement"]]
    request = Request("rds:DescribeDBInstances", "arn:aws:rds:x:1:db:*", {})

    assert judge_identity(statements, request) is Verdict.ALLOWED


_TO_EMR = {"iam:PassedToService": "emr-serverless.amazonaws.com"}
_TO_LAKE = {"iam:PassedToService": "lakeformation.amazonaws.com"}
_TO_TASKS = {"iam:PassedToService": "ecs-tasks.amazonaws.com"}


@pytest.mark.parametrize(
    ("kind", "action", "resource", "context"),
    [
        ("producer", "glue:GetRegistry", "glue:x:1:registry/acme-kafka", {}),
        ("producer", "kafka:DescribeCluster", "kafka:x:1:cluster/acme-kafka-cluster/1-1", {}),
        ("producer", "secretsmanager:DescribeSecret",
         "secretsmanager:x:1:secret:AmazonMSK_acme-kafka_a-1", {}),
        ("producer", "ssm:PutParameter", "ssm:x:1:parameter/acme-kafka/load", {}),
        ("consumer", "cloudwatch:PutMetricAlarm", "cloudwatch:x:1:alarm:acme-kafka-lag", {}),
        ("consumer", "glue:GetDatabase", "glue:x:1:database/acme_kafka_lake", {}),
        ("consumer", "ssm:PutParameter", "ssm:x:1:parameter/acme-kafka/load", {}),
        ("lake-formation", _PASS, "iam::1:role/acme-kafka-lake-location", _TO_LAKE),
        ("services", _PASS, "iam::1:role/acme-kafka-client-service-a", _TO_TASKS),
        ("services", _PASS, "iam::1:role/acme-kafka-service-start", _TO_TASKS),
        ("operator", _PASS, "iam::1:role/acme-kafka-job-load", _TO_EMR),
        ("operator", _READ, "s3:::acme-kafka-emr-logs-1-x/j-1/steps/s-1/stderr.gz", {}),
        ("operator", _INVOKE, "lambda:x:1:function:acme-kafka-consumer-quality", {}),
        ("operator", _INVOKE, "lambda:x:1:function:acme-kafka-consumer-sync", {}),
        ("operator", _INVOKE, "lambda:x:1:function:acme-kafka-retry-join", {}),
        ("operator", _INVOKE, "lambda:x:1:function:acme-kafka-status", {}),
        ("doctor", _READ, "s3:::acme-kafka-lake-1-x/checkpoints/load/penstock-lease/table", {}),
    ],
)  # fmt: skip
def test_the_policies_follow_a_prefix_and_a_partition_by_the_commands_of_the_readme(
    kind: str, action: str, resource: str, context: dict[str, str]
) -> None:
    commands = re.findall("`sed '(.+)'`", (FOLDER / "README.md").read_text())
    words = [word for command in commands for word in ("-e", command)]
    text = json.dumps([one for policy in read_policies(kind) for one in policy["Statement"]])
    made = subprocess.run(["sed", *words], input=text, text=True, capture_output=True, check=True)
    request = Request(action, f"arn:aws-us-gov:{resource}", context)

    assert judge_identity(json.loads(made.stdout), request) is Verdict.ALLOWED


@pytest.mark.parametrize("action", ["kafka:TagResource", "kafka:UntagResource"])
def test_a_consumer_tags_its_connection_to_the_cluster(action: str) -> None:
    statements = [each for policy in read_policies("consumer") for each in policy["Statement"]]
    connection = "arn:aws:kafka:x:2:vpc-connection/1/penstock-cluster/1-1"

    assert judge_identity(statements, Request(action, connection, {})) is Verdict.ALLOWED


@pytest.mark.parametrize("kind", KINDS)
def test_who_may_tag_may_take_the_tags_off_too(kind: str) -> None:
    statements = [one for policy in read_policies(kind) for one in policy["Statement"]]
    actions = {action for one in statements for action in one["Action"]}
    of_services = {"secretsmanager:TagResource"} if kind == "cdc" else set()  # by RDS

    tagging = {one for one in actions if ":Tag" in one} - of_services
    assert {one.replace(":Tag", ":Untag") for one in tagging} - actions == set()
