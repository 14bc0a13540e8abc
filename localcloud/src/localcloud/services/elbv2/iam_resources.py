"""How calls of Elastic Load Balancing name load balancers, listeners and target groups.

Service Authorization Reference, "Actions, resources, and condition keys for AWS Elastic Load
Balancing V2".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from localcloud.door.operations import Call
from localcloud.identity.access import Access

_KINDS: Final = {"application": "app", "gateway": "gwy", "network": "net"}
_ARNS: Final = ("RuleArn", "ListenerArn", "TargetGroupArn", "LoadBalancerArn")


def list_resources(call: Call, action: str) -> Iterator[Access]:
    """Yield the resources of a call; what is created with tags needs an action more."""
    if call.operation.startswith("Describe"):
        yield Access(action, "*")
        return
    if arns := call.params.get("ResourceArns"):
        yield from (Access(action, arn) for arn in arns)
        return
    arn = _find_arn(call)
    yield Access(action, arn)
    if call.operation.startswith("Create") and call.params.get("Tags"):
        if call.operation == "CreateListener":
            arn = f"{arn}/*".replace(":loadbalancer/", ":listener/")
        yield Access("elasticloadbalancing:AddTags", arn)


def _find_arn(call: Call) -> str | None:
    params = call.params
    start = f"arn:aws:elasticloadbalancing:{call.region}:{call.account}:"
    match call.operation:
        case "CreateLoadBalancer":
            kind = _KINDS.get(params.get("Type", "application"), "*")
            return f"{start}loadbalancer/{kind}/{params.get('Name', '')}/*"
        case "CreateTargetGroup":
            return f"{start}targetgroup/{params.get('Name', '')}/*"
    return next((str(params[name]) for name in _ARNS if params.get(name)), None)
