"""What a caller must be allowed for a call, as the descriptor of its service says."""

from __future__ import annotations

from localcloud.door.operations import Call
from localcloud.door.services import find_service
from localcloud.identity.access import Access


def list_access(call: Call) -> list[Access]:
    """List everything that a caller must be allowed for this call."""
    service = find_service(call.service)
    return list(service.resources(call, service.action(call.operation)))


def list_access_by_endpoint(call: Call) -> list[Access]:
    """List what the policy of a VPC endpoint must allow: the use of keys passes no endpoint."""
    if call.endpoint is None:
        return []
    if call.service == "sts":  # the trust policy decides otherwise, and not on this
        return [Access(call.name, call.params.get("RoleArn", "*"))]
    of_kms = call.service == "kms"
    return [it for it in list_access(call) if it.action.startswith("kms:") is of_kms]
