"""IAM's quotas of policies: characters without white space, and managed policies of a role."""

from __future__ import annotations

import json
import uuid

import pytest

from localcloud.testing.policies import allow, document, trust
from tests.account_ids import CONSUMER
from tests.refusals import refusal


def _long_policy(characters, indent=None):
    """A policy of so many characters, not counting white space."""
    bare = len(document(allow("sqs:*", "arn:aws:sqs:::")).replace(" ", ""))
    statement = allow("sqs:*", f"arn:aws:sqs:::{'q' * (characters - bare)}")
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]}, indent=indent)


@pytest.fixture
def put(iam, role):
    """Put an inline policy of so many characters."""
    name = role.rpartition("/")[2]
    return lambda policy, characters, **more: {
        "RoleName": name,
        "PolicyName": policy,
        "PolicyDocument": _long_policy(characters, **more),
    }


def test_inline_policies_of_a_role_are_added_up(iam, put):
    iam.put_role_policy(**put("first", 6_000))
    iam.put_role_policy(**put("second", 4_240, indent=4))
    iam.put_role_policy(**put("first", 6_000))  # in its own place

    said = refusal(iam.put_role_policy, **put("third", 100))

    name = put("", 100)["RoleName"]
    assert said == ("LimitExceeded", f"Maximum policy size of 10240 bytes exceeded for role {name}")


def test_an_inline_policy_of_no_role_is_refused_as_that(iam):
    params = {"PolicyName": "work", "PolicyDocument": document(allow("sqs:*"))}

    assert refusal(iam.put_role_policy, RoleName="none", **params)[0] == "NoSuchEntity"


def test_a_managed_policy_has_a_limit_of_its_own(iam):
    name = uuid.uuid4().hex
    iam.create_policy(PolicyName=name, PolicyDocument=_long_policy(6_144, indent=4))
    arn = f"arn:aws:iam::{CONSUMER}:policy/{name}"
    expected = ("LimitExceeded", "Cannot exceed quota for PolicySize: 6144")

    long = {"PolicyDocument": _long_policy(6_145)}
    assert refusal(iam.create_policy, PolicyName=f"{name}-2", **long) == expected
    assert refusal(iam.create_policy_version, PolicyArn=arn, **long) == expected


def test_a_trust_policy_has_a_limit_of_its_own(iam, role):
    name = role.rpartition("/")[2]
    long = trust([f"arn:aws:iam::{number:012}:root" for number in range(60)])
    expected = ("LimitExceeded", "Cannot exceed quota for ACLSizePerRole: 2048")

    params = {"RoleName": "long", "AssumeRolePolicyDocument": long}
    assert refusal(iam.create_role, **params) == expected
    params = {"RoleName": name, "PolicyDocument": long}
    assert refusal(iam.update_assume_role_policy, **params) == expected


def test_a_role_has_ten_managed_policies(iam, role):
    name = role.rpartition("/")[2]
    arns = [
        iam.create_policy(PolicyName=uuid.uuid4().hex, PolicyDocument=document(allow("sqs:*")))[
            "Policy"
        ]["Arn"]
        for _ in range(11)
    ]
    for arn in arns[:10]:
        iam.attach_role_policy(RoleName=name, PolicyArn=arn)
    iam.attach_role_policy(RoleName=name, PolicyArn=arns[0])  # again

    said = refusal(iam.attach_role_policy, RoleName=name, PolicyArn=arns[10])

    assert said == ("LimitExceeded", "Cannot exceed quota for PoliciesPerRole: 10")
