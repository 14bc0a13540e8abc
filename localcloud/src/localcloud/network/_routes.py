"""Routes of VPCs: the route tables of subnets, and the peering connections that they lead to."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Network
from typing import Any

from localcloud.errors import MissingHopError
from localcloud.network import inventory


def route_tables(ec2: Any, vpc_id: str, subnet_ids: Iterable[str | None]) -> list[Any]:
    """List the route tables of subnets: each has its own or the VPC's main one, as None has."""
    tables = [it for it in list(ec2.route_tables.values()) if it.vpc_id == vpc_id]
    main = [it for it in tables if it.main_association_id]
    used = {
        table.id: table
        for subnet_id in subnet_ids
        for table in [it for it in tables if _has_subnet(it, subnet_id)] or main
    }
    return list(used.values())


def follow_route(table: Any, network: IPv4Network, title: str) -> Any:
    """Return the peering connection to which a route table sends packets for a network.

    The most specific route that holds the whole network decides, as in a VPC.

    Raises:
        MissingHopError: there is no such route, or it leads elsewhere or nowhere.
    """
    routes = [it for it in table.routes if _holds(it, network)]
    if not routes:
        raise MissingHopError(
            f"route table {table.id} of {table.vpc_id} has no route to {title}; add one to the "
            "peering connection between the two VPCs"
        )
    route = max(routes, key=lambda it: IPv4Network(it.destination_cidr_block).prefixlen)
    there = f"the route {route.destination_cidr_block} of route table {table.id}"
    if route.vpc_pcx is None:
        raise MissingHopError(
            f"{there} of {table.vpc_id}, which decides for {title}, does not lead to a peering "
            "connection; the address ranges of peered VPCs must not overlap"
        )
    state = route.vpc_pcx.status["Code"]
    if state != "active":
        raise MissingHopError(
            f"{there} is a blackhole: the peering connection {route.vpc_pcx.id} is {state}, not "
            "active; the owner of the other VPC has to accept it"
        )
    return route.vpc_pcx


def peered_vpcs(vpc_id: str) -> set[str]:
    """Return the VPCs that a VPC has, or had, a peering connection with."""
    return {
        end.id
        for connection in inventory.peering_connections()
        if vpc_id in {connection.vpc.id, connection.peer_vpc.id}
        for end in (connection.vpc, connection.peer_vpc)
        if end.id != vpc_id
    }


def _has_subnet(table: Any, subnet_id: str | None) -> bool:
    return any(subnet_id == one.get("SubnetId", "") for one in table.associations)


def _holds(route: Any, network: IPv4Network) -> bool:
    block = route.destination_cidr_block
    return bool(block) and network.subnet_of(IPv4Network(block, strict=False))
