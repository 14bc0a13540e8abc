"""How calls of EMR name their clusters for IAM, and the roles that they pass."""

from __future__ import annotations

from collections.abc import Iterator

from localcloud.door.operations import Call
from localcloud.identity.access import Access
from localcloud.identity.instance_profiles import find_profile_role
from localcloud.identity.roles import full_role_arn


def list_resources(call: Call, action: str) -> Iterator[Access]:
    """Yield the clusters of a call; a cluster that is created with tags needs an action more."""
    params, start = call.params, f"arn:aws:elasticmapreduce:{call.region}:{call.account}:cluster/"
    named = params.get("ClusterId") or params.get("ResourceId") or params.get("JobFlowId")
    for cluster in params.get("JobFlowIds") or [named]:
        yield Access(action, start + cluster if cluster else "*")
    if call.operation == "RunJobFlow" and params.get("Tags"):
        yield Access("elasticmapreduce:AddTags", f"{start}*")


def list_roles(call: Call) -> Iterator[tuple[str, str]]:
    """Yield the service role and the role of the instance profile of a new cluster."""
    if call.operation == "RunJobFlow":
        service_role = full_role_arn(call.account, str(call.params.get("ServiceRole", "")))
        yield service_role, "elasticmapreduce.amazonaws.com"
        profile = str(call.params.get("JobFlowRole", ""))
        yield find_profile_role(call.account, profile) or "", "ec2.amazonaws.com"
