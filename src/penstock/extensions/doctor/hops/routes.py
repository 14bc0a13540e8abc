"""The route tables of subnets."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from penstock.extensions.doctor.accounts import World
from penstock.extensions.doctor.findings import Side


def list_tables(
    world: World, side: Side, vpc_id: str, subnet_ids: Iterable[str]
) -> dict[str, list[dict[str, Any]]]:
    """Return the route tables of each subnet: its own, else the main one of the VPC."""
    by_vpc = [{"Name": "vpc-id", "Values": [vpc_id]}]
    answer = world.ask(side, "ec2", "describe_route_tables", Filters=by_vpc)
    joined: dict[str, list[dict[str, Any]]] = {}
    main: list[dict[str, Any]] = []
    for table in answer["RouteTables"]:
        for each in table["Associations"]:
            if each.get("Main"):
                main.append(table)
            elif subnet := each.get("SubnetId"):
                joined.setdefault(subnet, []).append(table)
    return {each: joined.get(each, main) for each in subnet_ids}
