"""The path from a VPC to a broker, over the resources created through the API.

    record in a private zone -> interface endpoint -> endpoint service -> network load balancer
    -> listener -> target group -> target -> network interface -> the server behind it

or over a connection that the server's service made in the VPC; or, in the VPC of the server and in
those that have a peering connection with it, to the address of its network interface: between VPCs
over the routes of both. Nothing is cached: a walk sees the current resources, so a removed one is
missing in the next walk.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from localcloud.errors import MissingHopError
from localcloud.network import inventory
from localcloud.network._routes import peered_vpcs
from localcloud.network._walk import Walk
from localcloud.network.nodes import Node, Nodes, Source


@dataclass(frozen=True, slots=True)
class Path:
    """A complete path to a server: its hops in order, and the server's real port."""

    hops: tuple[str, ...]
    node: Node
    port: int


@dataclass(frozen=True, slots=True)
class Trace:
    """The result of a walk, for people: the hops in order, and the message on the missing one."""

    hops: tuple[str, ...]
    missing: str | None


def find_source(subnet_ids: Sequence[str], group_ids: Sequence[str]) -> Source | None:
    """Return the source of a function, poller or job from its configuration, None without a VPC.

    Raises:
        MissingHopError: the first subnet is in no VPC.
    """
    if not subnet_ids:
        return None
    for ec2 in inventory.regions_of_ec2():
        for subnets in list(ec2.subnets.values()):
            if subnet_ids[0] in subnets:
                vpc_id = subnets[subnet_ids[0]].vpc_id
                return Source(vpc_id, tuple(subnet_ids), tuple(group_ids))
    raise MissingHopError(f"there is no subnet {subnet_ids[0]} in any account")


def check_source(nodes: Nodes, source: Source) -> None:
    """Check that the VPC, subnets and security groups of a source exist.

    Raises:
        MissingHopError: the first one that does not exist.
    """
    Walk(nodes, source)


def find_path(nodes: Nodes, source: Source, host: str, port: int) -> Path:
    """Walk from a source to the server that a host and port lead to.

    Raises:
        MissingHopError: the first missing hop; the message names the remedy.
    """
    walk = Walk(nodes, source)
    node, node_port = walk.run(inventory.plain_name(host), port)
    return Path(tuple(walk.hops), node, node_port)


def trace(nodes: Nodes, source: Source, host: str, port: int) -> Trace:
    """Walk as `find_path` does and return the hops so far.

    Raises:
        MissingHopError: the VPC, a subnet or a security group of the source does not exist.
    """
    walk = Walk(nodes, source)
    try:
        walk.run(inventory.plain_name(host), port)
    except MissingHopError as error:
        return Trace(tuple(walk.hops), str(error))
    return Trace(tuple(walk.hops), None)


def visible_names(nodes: Nodes, vpc_id: str) -> set[str]:
    """Return the names that a VPC can resolve: of its private zones, and of servers in reach.

    Those are its own, those of VPCs that it has a peering connection with, and those of managed
    connections, whose names are private ones. As on AWS, a private zone hides all other names
    below its own.
    """
    zones = inventory.answering_zones(vpc_id)
    names = {
        name
        for zone in zones
        for name in inventory.address_records(zone)
        if inventory.zone_of_name(zones, name) is zone
    }
    vpc = inventory.find_vpc(vpc_id)
    if vpc is not None and inventory.resolves_private_names(vpc[1]):
        names |= {host for it in nodes.connections(vpc_id) for host in it.targets}
    in_reach = {vpc_id} | peered_vpcs(vpc_id)
    for node in nodes.all():
        interface = inventory.find_interface(node.interface_id)
        found = interface is not None and interface.vpc_id in in_reach
        if found and inventory.zone_of_name(zones, node.name) is None:
            names.add(inventory.plain_name(node.name))
    return names
