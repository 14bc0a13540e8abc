"""Managed policies that something has, or that have versions: IAM deletes none, and moto does.

API Reference, DeletePolicy: "you must first detach the policy from all users, groups, and roles
that it is attached to. In addition, you must delete all the policy's versions."
"""

from __future__ import annotations

from typing import Any

from moto.iam.models import iam_backends

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, HttpAnswer, operation

_VERSIONS = (
    "This policy has more than one version. Before you delete a policy, you must delete the "
    "policy's versions. The default version is deleted with the policy."
)


@operation("iam", "DeletePolicy")
def delete_policy(call: Call) -> HttpAnswer:
    """Delete a policy that nothing has, with its only version."""
    arn, backend = call.params["PolicyArn"], iam_backends[call.account]["aws"]
    kinds: tuple[dict[str, Any], ...] = (backend.roles, backend.users, backend.groups)
    entities = [each for kind in kinds for each in list(kind.values())]
    bounds = {role.permissions_boundary_arn for role in list(backend.roles.values())}
    if arn in bounds or any(arn in each.managed_policies for each in entities):
        raise _conflict("Cannot delete a policy attached to entities.")
    policy = backend.managed_policies.get(arn)
    if policy is not None and len(policy.versions) > 1:
        raise _conflict(_VERSIONS)
    return call.forward()


def _conflict(message: str) -> AwsError:
    return AwsError("DeleteConflict", message, status=409)
