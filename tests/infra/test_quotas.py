"""What the roots plan for roles and functions stays within the quotas of IAM and of Lambda."""

from __future__ import annotations

import json
from itertools import count

import pytest
from botocore.exceptions import ClientError

from localcloud.testing import deploy
from tests.infra.planned import UNKNOWN
from tests.infra.plans import find_cases

# The first test that is run waits until all cases are planned.
pytestmark = [pytest.mark.terraform, pytest.mark.timeout(900)]

_NAMED = {str(case): case for case in find_cases()}
_MANY = _NAMED["consumer-many"]
_CASES = [
    _NAMED["consumer-full"],
    _MANY,
    _NAMED["consumer-peering"],  # with the largest cluster
    _NAMED["consumer-staging"],
    _NAMED["producer-full"],
    _NAMED["status-many"],
]
_VARIABLES_BYTES = 4096  # of a function, as localcloud and Lambda count them
_accounts = count(700_000_000_001)


@pytest.mark.parametrize("case", _CASES, ids=str)
def test_iam_takes_all_policies_of_a_plan(case, plan_case, client):
    plan = plan_case(case)

    refused = _apply(client("iam", account=str(next(_accounts))), plan)

    assert plan.errors == ()
    assert refused == []
    assert case != _MANY or len(_resources(plan, "aws_iam_policy")) > 20


@pytest.mark.parametrize("case", _CASES, ids=str)
def test_lambda_takes_the_variables_of_all_functions_of_a_plan(case, plan_case):
    plan = plan_case(case)

    sizes = {
        address: len(json.dumps(function["environment"][0]["variables"], separators=(",", ":")))
        for address, function in _resources(plan, "aws_lambda_function").items()
    }

    assert plan.errors == ()
    assert {place: size for place, size in sizes.items() if size > _VARIABLES_BYTES} == {}


@pytest.mark.parametrize("case", [_MANY], ids=str)
def test_a_new_account_takes_what_a_plan_reserves(case, plan_case, client):
    plan = plan_case(case)
    who = {"account": str(next(_accounts))}
    name = deploy(lambda service, **more: client(service, **who, **more))
    refused = []

    for function in _resources(plan, "aws_lambda_function").values():
        reserve = function["reserved_concurrent_executions"]
        if reserve >= 0:  # -1 reserves nothing
            call = client("lambda", **who).put_function_concurrency
            _try(refused, call, FunctionName=name, ReservedConcurrentExecutions=reserve)

    assert plan.errors == ()
    assert refused == []


def _apply(iam, plan):
    """Make the roles and policies of a plan in an account of localcloud; return what it refused."""
    trust = json.dumps({"Version": "2012-10-17", "Statement": []})
    for role in _resources(plan, "aws_iam_role").values():
        iam.create_role(RoleName=role["name"], AssumeRolePolicyDocument=trust)
    arns = {}
    refused = []
    for address, policy in _resources(plan, "aws_iam_policy").items():
        made = _try(
            refused, iam.create_policy, PolicyName=policy["name"], PolicyDocument=policy["policy"]
        )
        arns[address] = made["Policy"]["Arn"] if made else None
    for policy in _resources(plan, "aws_iam_role_policy").values():
        _try(
            refused,
            iam.put_role_policy,
            RoleName=policy["role"],
            PolicyName=policy["name"],
            PolicyDocument=policy["policy"],
        )
    for address, attached in _resources(plan, "aws_iam_role_policy_attachment").items():
        arn = attached["policy_arn"]
        if arn == UNKNOWN:  # of a policy with the same key beside it
            arn = arns.get(address.replace("aws_iam_role_policy_attachment", "aws_iam_policy"))
        if arn:
            _try(refused, iam.attach_role_policy, RoleName=attached["role"], PolicyArn=arn)
    return refused


def _resources(plan, kind):
    return {
        address: resource
        for address, resource in plan.resources.items()
        if plan.types[address] == kind and resource.get("policy") != UNKNOWN
    }


def _try(refused, call, **params):
    try:
        return call(**params)
    except ClientError as error:
        refused.append(f"{params.get('RoleName') or params.get('PolicyName')}: {error}")
        return None
