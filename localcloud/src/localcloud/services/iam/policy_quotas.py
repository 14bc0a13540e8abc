"""IAM is moto's; here are the quotas of policies that moto lacks.

IAM counts no white space ("IAM and AWS STS quotas" in the IAM User Guide).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from moto.iam.exceptions import NotFoundException
from moto.iam.models import iam_backends

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, HttpAnswer, operation

_INLINE_CHARACTERS = 10_240  # of all inline policies of a role
_MANAGED_CHARACTERS = 6_144
_TRUST_CHARACTERS = 2_048
_MANAGED_POLICIES = 10  # of a role, by default


@operation("iam", "PutRolePolicy")
def put_role_policy(call: Call) -> HttpAnswer:
    """Store an inline policy if it and the role's others are within the quota."""
    name = call.params["RoleName"]
    others: dict[str, Any] = getattr(_find_role(call, name), "policies", {})
    others = {key: text for key, text in others.items() if key != call.params["PolicyName"]}
    if _count([*others.values(), call.params["PolicyDocument"]]) > _INLINE_CHARACTERS:
        said = f"Maximum policy size of {_INLINE_CHARACTERS} bytes exceeded for role {name}"
        raise _limit_exceeded(said)
    return call.forward()


@operation("iam", "CreateRole")
def create_role(call: Call) -> HttpAnswer:
    """Create a role if its trust policy is within the quota."""
    return _forward_trust(call, call.params["AssumeRolePolicyDocument"])


@operation("iam", "UpdateAssumeRolePolicy")
def update_assume_role_policy(call: Call) -> HttpAnswer:
    """Replace a role's trust policy by one that is within the quota."""
    return _forward_trust(call, call.params["PolicyDocument"])


@operation("iam", "CreatePolicy")
@operation("iam", "CreatePolicyVersion")
def create_policy(call: Call) -> HttpAnswer:
    """Create a managed policy, or a version of one, that is within the quota."""
    if _count([call.params["PolicyDocument"]]) > _MANAGED_CHARACTERS:
        raise _limit_exceeded(f"Cannot exceed quota for PolicySize: {_MANAGED_CHARACTERS}")
    return call.forward()


@operation("iam", "AttachRolePolicy")
def attach_role_policy(call: Call) -> HttpAnswer:
    """Attach a managed policy to a role that has fewer than the quota."""
    role = _find_role(call, call.params["RoleName"])
    attached = getattr(role, "managed_policies", {}).keys() - {call.params["PolicyArn"]}
    if len(attached) >= _MANAGED_POLICIES:
        raise _limit_exceeded(f"Cannot exceed quota for PoliciesPerRole: {_MANAGED_POLICIES}")
    return call.forward()


def _forward_trust(call: Call, document: str) -> HttpAnswer:
    if _count([document]) > _TRUST_CHARACTERS:
        said = f"Cannot exceed quota for ACLSizePerRole: {_TRUST_CHARACTERS}"
        raise _limit_exceeded(said)
    return call.forward()


def _find_role(call: Call, name: str) -> Any:
    """Return moto's role, or None if it is missing: moto then refuses the call."""
    try:
        return iam_backends[call.account]["aws"].get_role(name)
    except NotFoundException:
        return None


def _count(documents: Iterable[str]) -> int:
    return sum(len(re.sub(r"\s", "", text)) for text in documents)


def _limit_exceeded(message: str) -> AwsError:
    return AwsError("LimitExceeded", message, status=409)
