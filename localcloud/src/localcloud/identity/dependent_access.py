"""Permissions that a call needs besides its own action: on roles, and on keys of what it creates.

A caller that gives a role to a service must have `iam:PassRole` on it. A service that works by a
service-linked role creates the role in the caller's name at the account's first such call. One that
encrypts by a key of the customer's looks at the key and creates a grant on it in the caller's name.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

from moto.iam.models import iam_backends

from localcloud.door.operations import Call
from localcloud.identity.instance_profiles import find_profile_role
from localcloud.identity.resource_policies import key_arn
from localcloud.identity.resources import Access
from localcloud.identity.roles import find_role, is_role_arn, role_account

_EMR = "elasticmapreduce.amazonaws.com"
# Operation -> the parameter with the role, by the names that lead there, and the service that gets
# it.
_PASSED = {
    ("ec2", "CreateFlowLogs"): (("DeliverLogsPermissionArn",), "vpc-flow-logs.amazonaws.com"),
    ("emr-serverless", "StartJobRun"): (("executionRoleArn",), "emr-serverless.amazonaws.com"),
    ("glue", "CreateCrawler"): (("Role",), "glue.amazonaws.com"),
    ("glue", "UpdateCrawler"): (("Role",), "glue.amazonaws.com"),
    ("lakeformation", "RegisterResource"): (("RoleArn",), "lakeformation.amazonaws.com"),
    ("lakeformation", "UpdateResource"): (("RoleArn",), "lakeformation.amazonaws.com"),
    ("lambda", "CreateFunction"): (("Role",), "lambda.amazonaws.com"),
    ("lambda", "UpdateFunctionConfiguration"): (("Role",), "lambda.amazonaws.com"),
    ("scheduler", "CreateSchedule"): (("Target", "RoleArn"), "scheduler.amazonaws.com"),
    ("scheduler", "UpdateSchedule"): (("Target", "RoleArn"), "scheduler.amazonaws.com"),
}
# Operation -> the service of its service-linked role, and the role's name.
_LINKED = {
    ("application-autoscaling", "RegisterScalableTarget"): (
        "kafka.application-autoscaling.amazonaws.com",
        "AWSServiceRoleForApplicationAutoScaling_KafkaCluster",
    ),
    ("elbv2", "CreateLoadBalancer"): (
        "elasticloadbalancing.amazonaws.com",
        "AWSServiceRoleForElasticLoadBalancing",
    ),
    ("emr-serverless", "CreateApplication"): (
        "ops.emr-serverless.amazonaws.com",
        "AWSServiceRoleForAmazonEMRServerless",
    ),
    ("emr", "RunJobFlow"): (_EMR, "AWSServiceRoleForEMRCleanup"),
    ("kafka", "CreateCluster"): ("kafka.amazonaws.com", "AWSServiceRoleForKafka"),
    ("kafka", "CreateClusterV2"): ("kafka.amazonaws.com", "AWSServiceRoleForKafka"),
}
# Operation -> the parameter with the key, by the names that lead there. Service Authorization
# Reference, "Amazon MSK": dependent actions; DynamoDB Developer Guide, "DynamoDB encryption at
# rest: usage notes".
_AT_REST = ("EncryptionInfo", "EncryptionAtRest", "DataVolumeKMSKeyId")
_KEYS = {
    ("dynamodb", "CreateTable"): ("SSESpecification", "KMSMasterKeyId"),
    ("kafka", "CreateCluster"): _AT_REST,
    ("kafka", "CreateClusterV2"): ("Provisioned", *_AT_REST),
}

_lock = threading.Lock()


def list_dependent_access(call: Call) -> Iterator[Access]:
    """List what the caller must be allowed besides; a service itself refuses foreign roles."""
    for role_arn, service in _list_passed(call):
        if is_role_arn(role_arn) and role_account(role_arn) == call.account:
            yield Access("iam:PassRole", role_arn, {"iam:PassedToService": service})
    if linked := _find_linked(call):
        arn, service = linked
        yield Access("iam:CreateServiceLinkedRole", arn, {"iam:AWSServiceName": service})
    if key := _find_key(call):
        yield Access("kms:DescribeKey", key, {})
        yield Access("kms:CreateGrant", key, {"kms:GrantIsForAWSResource": "true"})


def _list_passed(call: Call) -> Iterator[tuple[str, str]]:
    """Yield the ARNs of the roles that a call passes, each with the service that gets it."""
    if (call.service, call.operation) == ("emr", "RunJobFlow"):
        yield _full_arn(call, str(call.params.get("ServiceRole", ""))), _EMR
        profile = str(call.params.get("JobFlowRole", ""))
        yield find_profile_role(call.account, profile) or "", "ec2.amazonaws.com"
        return
    names, service = _PASSED.get((call.service, call.operation), (("",), ""))
    found = str(_find_param(call, names) or "")
    # A crawler's role may be given by its name.
    yield (_full_arn(call, found) if found and call.service == "glue" else found), service


def _full_arn(call: Call, role: str) -> str:
    return role if is_role_arn(role) else f"arn:aws:iam::{call.account}:role/{role}"


def _find_key(call: Call) -> str | None:
    """Return the ARN of the customer's key that a call encrypts by."""
    found = _find_param(call, _KEYS.get((call.service, call.operation), ("",)))
    return key_arn(call.account, call.region, found) if found and "aws/" not in found else None


def _find_param(call: Call, names: tuple[str, ...]) -> Any:
    found: Any = call.params
    for name in names:
        found = (found or {}).get(name)
    return found


def create_linked_role(call: Call) -> None:
    """Create the service-linked role of an authorized call if the account has none."""
    with _lock:
        if linked := _find_linked(call):
            arn, service = linked
            iam_backends[call.account]["aws"].create_role(
                role_name=arn.rpartition("/")[2],
                assume_role_policy_document=_trust(service),
                path=f"/aws-service-role/{service}/",
                permissions_boundary=None,
                description="",
                tags=[],
                max_session_duration="3600",
                linked_service=service,
            )


def _find_linked(call: Call) -> tuple[str, str] | None:
    """Return the service-linked role that a call lacks, and its service; None if it lacks none."""
    service, name = _LINKED.get((call.service, call.operation), ("", ""))
    arn = f"arn:aws:iam::{call.account}:role/aws-service-role/{service}/{name}"
    return (arn, service) if name and find_role(arn) is None else None


def _trust(service: str) -> str:
    statement = {
        "Effect": "Allow",
        "Action": "sts:AssumeRole",
        "Principal": {"Service": service},
    }
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})
