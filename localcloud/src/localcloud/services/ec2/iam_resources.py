"""How calls of EC2 name their resources for IAM: Service Authorization Reference, "Amazon EC2"."""

from __future__ import annotations

from collections.abc import Iterator

from localcloud.door.operations import Call
from localcloud.identity.access import Access, arn_of
from localcloud.identity.conditions import as_list

# The names of ids -> the kind of resource in its ARN; the first present ones count.
_KINDS = (
    (("ServiceId", "ServiceIds"), "vpc-endpoint-service"),
    (("VpcEndpointId", "VpcEndpointIds"), "vpc-endpoint"),
    (("GroupId", "SecurityGroupIds", "Groups"), "security-group"),
    (("SubnetId", "SubnetIds"), "subnet"),
    (("NetworkInterfaceId",), "network-interface"),
    (("RouteTableId", "RouteTableIds"), "route-table"),
    (("VpcId",), "vpc"),
)
_PEERING = (("VpcPeeringConnectionId",), "vpc-peering-connection")  # a route names one too


def list_resources(call: Call, action: str) -> Iterator[Access]:
    """Yield the resources that a call names by their ids."""
    if call.operation.startswith("Describe"):  # EC2 has no resource for these
        yield Access(action, "*")
        return
    found: list[str | None] = [
        arn_of(call, each, f"{kind}/{{}}")
        for names, kind in (*_KINDS, *([_PEERING] if "Peering" in call.operation else []))
        for name in names
        for each in as_list(call.params.get(name, []))
    ]
    alone = call.operation.endswith("VpcEndpointConnections")  # they name the endpoints too
    yield from (Access(action, arn) for arn in (found[:1] if alone else found) or [None])
