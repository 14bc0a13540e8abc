"""How calls of IAM name roles, policies, instance profiles, users and groups.

Service Authorization Reference, "Actions, resources, and condition keys for AWS Identity and Access
Management (IAM)".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moto.iam.exceptions import IAMException
from moto.iam.models import iam_backends

from localcloud.door.operations import Call
from localcloud.identity.access import Access

# The parameter that names a resource, and its kind: of a call that names several, the first.
_KINDS: Final = {
    "InstanceProfileName": "instance-profile",
    "RoleName": "role",
    "GroupName": "group",
    "UserName": "user",
}
_LISTS: Final = frozenset(
    {
        *("ListGroups", "ListInstanceProfiles", "ListPolicies", "ListRoles", "ListUsers"),
        *("ListAccountAliases", "GetAccountSummary", "GetAccountAuthorizationDetails"),
    }
)


def list_resources(call: Call, action: str) -> Iterator[Access]:
    """Yield what a call is about: all roles of a list, else one resource."""
    yield Access(action, "*" if call.operation in _LISTS else _find_arn(call))


def _find_arn(call: Call) -> str | None:
    params, start = call.params, f"arn:aws:iam::{call.account}:"
    if call.operation == "CreateServiceLinkedRole":
        return f"{start}role/aws-service-role/{params.get('AWSServiceName', '')}/*"
    for parameter, kind in _KINDS.items():
        if name := params.get(parameter):
            return _read_arn(call, kind, name) or f"{start}{kind}{params.get('Path', '/')}{name}"
    if arn := params.get("PolicyArn"):
        return str(arn)
    if call.operation == "CreatePolicy":
        return f"{start}policy{params.get('Path', '/')}{params.get('PolicyName', '')}"
    return None


def _read_arn(call: Call, kind: str, name: str) -> str | None:
    """Return the ARN of a resource that exists, which has its path."""
    backend = iam_backends[call.account]["aws"]
    try:
        found = getattr(backend, f"get_{kind.replace('-', '_')}")(name)
    except IAMException:  # not found, by one of two errors
        return None
    return str(found.arn)
