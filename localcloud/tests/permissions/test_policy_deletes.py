"""IAM deletes no policy that something has, and none with versions besides its default."""

from __future__ import annotations

import uuid

import pytest

from localcloud.testing.policies import allow, document, make_role, trust
from tests.account_ids import CONSUMER
from tests.refusals import refusal

_ATTACHED = ("DeleteConflict", "Cannot delete a policy attached to entities.")
_VERSIONS = (
    "DeleteConflict",
    "This policy has more than one version. Before you delete a policy, you must delete the "
    "policy's versions. The default version is deleted with the policy.",
)


@pytest.fixture
def policy(iam):
    made = iam.create_policy(PolicyName=uuid.uuid4().hex, PolicyDocument=document(allow("sqs:*")))
    return made["Policy"]["Arn"]


def attach_to_role(iam, policy):
    """Attach the policy to a role; how it is detached."""
    named = {"RoleName": make_role(iam, trust(CONSUMER)).rpartition("/")[2], "PolicyArn": policy}
    iam.attach_role_policy(**named)
    return lambda: iam.detach_role_policy(**named)


def attach_to_user(iam, policy):
    name = uuid.uuid4().hex
    iam.create_user(UserName=name)
    iam.attach_user_policy(UserName=name, PolicyArn=policy)
    return lambda: iam.detach_user_policy(UserName=name, PolicyArn=policy)


def attach_to_group(iam, policy):
    name = uuid.uuid4().hex
    iam.create_group(GroupName=name)
    iam.attach_group_policy(GroupName=name, PolicyArn=policy)
    return lambda: iam.detach_group_policy(GroupName=name, PolicyArn=policy)


def bound_role(iam, policy):
    name = make_role(iam, trust(CONSUMER)).rpartition("/")[2]
    iam.put_role_permissions_boundary(RoleName=name, PermissionsBoundary=policy)
    return lambda: iam.delete_role_permissions_boundary(RoleName=name)


@pytest.mark.parametrize("attach", [attach_to_role, attach_to_user, attach_to_group, bound_role])
def test_a_policy_stays_until_nothing_has_it(iam, policy, attach):
    detach = attach(iam, policy)

    assert refusal(iam.delete_policy, PolicyArn=policy) == _ATTACHED

    detach()
    iam.delete_policy(PolicyArn=policy)
    assert refusal(iam.get_policy, PolicyArn=policy)[0] == "NoSuchEntity"


def test_a_policy_stays_until_it_has_its_default_version_alone(iam, policy):
    version = {"PolicyArn": policy, "PolicyDocument": document(allow("sns:*"))}
    iam.create_policy_version(**version, SetAsDefault=True)

    assert refusal(iam.delete_policy, PolicyArn=policy) == _VERSIONS

    iam.delete_policy_version(PolicyArn=policy, VersionId="v1")
    iam.delete_policy(PolicyArn=policy)


def test_a_policy_that_is_missing_is_refused_as_that(iam):
    arn = f"arn:aws:iam::{CONSUMER}:policy/none"

    assert refusal(iam.delete_policy, PolicyArn=arn)[0] == "NoSuchEntity"
