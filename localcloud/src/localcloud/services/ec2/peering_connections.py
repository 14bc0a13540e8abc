"""Peering connections: moto accepts requests that EC2 refuses, and shares the owners' tags."""

from __future__ import annotations

from ipaddress import IPv4Network
from typing import Any

from moto.ec2.models import ec2_backends

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, HttpAnswer, operation
from localcloud.network import inventory

_OVER = {"deleted", "expired", "failed", "rejected"}


@operation("ec2", "CreateVpcPeeringConnection")
def create_peering_connection(call: Call) -> HttpAnswer:
    """Ask for a connection; AWS takes one for each pair of VPCs, of one region here.

    Amazon VPC Peering Guide, "VPC peering limitations": address ranges must not overlap, and such a
    request fails once it is made.
    """
    if call.params.get("PeerRegion", call.region) != call.region:
        raise AwsError("InvalidParameterValue", "localcloud peers VPCs of one region only")
    ends = {call.params.get("VpcId"), call.params.get("PeerVpcId")}
    before = {it.id: it for it in inventory.peering_connections()}
    for connection in before.values():
        same = {connection.vpc.id, connection.peer_vpc.id} == ends
        if same and connection.status["Code"] not in _OVER:
            raise AwsError(
                "VpcPeeringConnectionAlreadyExists",
                f"VPC peering connection {connection.id} already exists between these VPCs",
            )
    answer = call.forward()
    for connection in inventory.peering_connections():
        if connection.id not in before and _overlap(connection):
            status = connection._status
            status.code = "failed"
            status.message = "Failed due to incorrect VPC-ID, Account ID, or overlapping CIDR range"
    return answer


@operation("ec2", "DescribeVpcPeeringConnections")
def describe_peering_connections(call: Call) -> dict[str, Any]:
    """Describe connections to either owner, with the tags that this one has given them."""
    ec2 = ec2_backends[call.account][call.region]
    wanted = call.params.get("VpcPeeringConnectionIds", [])
    for each in wanted:
        ec2.get_vpc_peering_connection(each)
    return {
        "VpcPeeringConnections": [
            _describe_peering(ec2, connection)
            for connection in list(ec2.vpc_pcxs.values())
            if not wanted or connection.id in wanted
        ]
    }


def _overlap(connection: Any) -> bool:
    here, there = (
        IPv4Network(end.cidr_block, strict=False) for end in (connection.vpc, connection.peer_vpc)
    )
    return here.overlaps(there)


def _describe_peering(ec2: Any, connection: Any) -> dict[str, Any]:
    tags = ec2.describe_tags(filters={"resource-id": [connection.id]})
    return {
        "VpcPeeringConnectionId": connection.id,
        "Status": connection.status,
        "RequesterVpcInfo": _describe_end(connection.requester_vpc_info),
        "AccepterVpcInfo": _describe_end(connection.accepter_vpc_info),
        "Tags": [{"Key": tag["key"], "Value": tag["value"]} for tag in tags],
    }


def _describe_end(info: dict[str, Any]) -> dict[str, Any]:
    return {**info, "CidrBlockSet": [{"CidrBlock": info["CidrBlock"]}]}
