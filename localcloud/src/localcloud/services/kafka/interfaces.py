"""The brokers' places in a VPC: their subnets, and a network interface for each."""

from __future__ import annotations

import ipaddress
from typing import Any

from moto.ec2.models import ec2_backends

from localcloud.door.errors import AwsError
from localcloud.services.kafka.model import BrokerNode, Cluster, bad_request, now

_RESERVED = 4  # AWS reserves the network address and three more in each subnet


def check_places(account: str, region: str, group: dict[str, Any]) -> str:
    """Check subnets and security groups and return their VPC; fill in its default group."""
    ec2 = ec2_backends[account][region]
    known = {subnet.id: subnet for subnet in ec2.describe_subnets()}
    wanted = group["ClientSubnets"]
    if missing := [name for name in wanted if name not in known]:
        raise bad_request(f"The subnet {missing[0]} does not exist")
    subnets = [known[name] for name in wanted]
    if len({subnet.vpc_id for subnet in subnets}) > 1:
        raise bad_request(f"The client subnets are not all in one VPC: {', '.join(wanted)}")
    if len({subnet.availability_zone for subnet in subnets}) < len(subnets):
        raise bad_request("Each client subnet must be in an Availability Zone of its own")
    vpc_id = str(subnets[0].vpc_id)
    groups = {found.id: found for found in ec2.describe_security_groups()}
    if not group.get("SecurityGroups"):
        default = next(g for g in groups.values() if g.vpc_id == vpc_id and g.name == "default")
        group["SecurityGroups"] = [default.id]
    for name in group["SecurityGroups"]:
        if name not in groups or groups[name].vpc_id != vpc_id:
            raise bad_request(f"The security group {name} does not exist in {vpc_id}")
    return vpc_id


def zone_of(cluster: Cluster, subnet_id: str) -> str:
    """Return the availability zone of a subnet."""
    ec2 = ec2_backends[cluster.account][cluster.region]
    return str(ec2.get_subnet(subnet_id).availability_zone)


def add_nodes(cluster: Cluster, count: int) -> None:
    """Extend the cluster to `count` nodes, spread over its subnets in turn, or add none.

    Those of a serverless cluster are in no VPC of the account.
    """
    subnets = cluster.settings["BrokerNodeGroupInfo"]["ClientSubnets"]
    before = len(cluster.nodes)
    try:
        for broker_id in range(before + 1, count + 1):
            subnet_id = subnets[(broker_id - 1) % len(subnets)]
            interface = None if cluster.serverless else _make_interface(cluster, subnet_id)
            cluster.nodes.append(_make_node(cluster, broker_id, subnet_id, interface))
    except AwsError:
        drop_nodes(cluster, before)
        raise


def drop_nodes(cluster: Cluster, count: int) -> None:
    """Reduce the cluster to `count` nodes and release the addresses of the others."""
    ec2 = ec2_backends[cluster.account][cluster.region]
    for node in cluster.nodes[count:]:
        # The interface may have been deleted by hand, which AWS refuses.
        ec2.enis.pop(node.interface_id, None)
    del cluster.nodes[count:]


def _make_interface(cluster: Cluster, subnet_id: str) -> Any:
    ec2 = ec2_backends[cluster.account][cluster.region]
    return ec2.create_network_interface(
        ec2.get_subnet(subnet_id),
        _free_address(ec2, subnet_id),
        group_ids=cluster.security_groups,
        description=f"DO NOT DELETE - Amazon MSK network interface for cluster {cluster.arn}",
    )


def _make_node(cluster: Cluster, broker_id: int, subnet_id: str, interface: Any) -> BrokerNode:
    return BrokerNode(
        broker_id=broker_id,
        name=f"b-{broker_id}.{cluster.zone}",
        arn=cluster.arn.replace(":cluster/", ":broker/") + f"/{broker_id}",
        subnet_id=subnet_id,
        interface_id=str(interface.id) if interface else "",
        address=str(interface.private_ip_address) if interface else "",
        added_at=now(),
    )


def _free_address(ec2: Any, subnet_id: str) -> str:
    taken = {interface.private_ip_address for interface in ec2.enis.values()}
    hosts = ipaddress.ip_network(ec2.get_subnet(subnet_id).cidr_block)
    for address in list(hosts)[_RESERVED:-1]:
        if str(address) not in taken:
            return str(address)
    raise bad_request(f"The subnet {subnet_id} has no free address")
