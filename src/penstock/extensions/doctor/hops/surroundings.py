"""The subnets of the consumer's programs, and the endpoints of AWS services beside them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from operator import itemgetter
from typing import Any

from penstock.extensions.doctor.accounts import World
from penstock.extensions.doctor.findings import Break, Seen, Side
from penstock.extensions.doctor.hops.firewall import Call, break_of, lets_in, lets_out
from penstock.extensions.doctor.hops.places import list_places
from penstock.extensions.doctor.hops.routes import list_tables

_CONSUMER = Side.CONSUMER
_HTTPS = 443
_GATEWAYS = ("dynamodb", "s3")


def look_at_subnets(world: World) -> Iterator[Seen | Break]:
    """Check that each subnet of a program is there and has addresses left."""
    network = _read_network(world)
    used = {each for place in list_places(world) for each in place.subnet_ids}
    wanted = sorted({*network["subnet_ids"], *used})
    by_id = [{"Name": "subnet-id", "Values": wanted}]
    answer = world.ask(_CONSUMER, "ec2", "describe_subnets", Filters=by_id)
    left = {each["SubnetId"]: each["AvailableIpAddressCount"] for each in answer["Subnets"]}
    for each in wanted:
        if not left.get(each):
            yield Break(
                "subnet-full",
                each,
                "no address is left" if each in left else "no such subnet",
                "a subnet with addresses for network interfaces",
                "delete unused network interfaces" if each in left else "",
            )
    fewest = min(left.values(), default=0)
    yield Seen(f"{len(left)} subnets with at least {fewest} addresses left")


def look_at_routes(world: World) -> Iterator[Seen | Break]:
    """Check that the subnets have a route to the gateway endpoints of DynamoDB and S3."""
    network = _read_network(world)
    gateways = _list_endpoints(world, "Gateway")
    found = {each["ServiceName"].rpartition(".")[2]: each for each in gateways}
    tables = list_tables(world, _CONSUMER, network["vpc_id"], network["subnet_ids"])
    ids = {each: {table["RouteTableId"] for table in own} for each, own in tables.items()}
    for name in _GATEWAYS:
        endpoint = found.get(name)
        joined = set((endpoint or {}).get("RouteTableIds", []))
        lacking = [each for each in network["subnet_ids"] if not ids[each] & joined]
        if endpoint is None or lacking:
            yield Break(
                "route-missing",
                name,
                f"no route from {', '.join(lacking)} to the gateway endpoint of {name}"
                if endpoint
                else f"no gateway endpoint of {name}",
                "an endpoint in the route table of each subnet",
            )
    yield Seen(f"routes to {' and '.join(_GATEWAYS)} from {len(network['subnet_ids'])} subnets")


def look_at_service_endpoints(world: World) -> Iterator[Seen | Break]:
    """Check the endpoints of AWS services: there, available by name, their policy and rules."""
    network = _read_network(world)
    # Of several endpoints of a service, one has its name, and is the last here.
    endpoints = sorted(_list_endpoints(world, "Interface"), key=itemgetter("PrivateDnsEnabled"))
    found = {each["ServiceName"]: each for each in endpoints}
    region = world.deployment.region
    groups: set[tuple[str, ...]] = set()
    for name in sorted(network["interface_endpoints"]):
        endpoint = found.get(f"com.amazonaws.{region}.{name}")
        state = _read_state(endpoint) if endpoint else "missing"
        if endpoint is None or state != "available":
            yield Break(
                "service-endpoint-missing",
                name,
                f"the endpoint of {name} is {state}",
                "available, with private DNS",
            )
            continue
        groups.add(tuple(sorted(each["GroupId"] for each in endpoint["Groups"])))
        yield from _check_policy(world, name, endpoint)
    for group in sorted(groups):  # most endpoints share one
        yield from _check_rules(world, group)
    yield Seen(f"{len(network['interface_endpoints'])} endpoints of AWS services")


def _read_state(endpoint: dict[str, Any]) -> str:
    """Return the state; one that programs do not find by the name of its service has another."""
    state = str(endpoint["State"]).lower()
    nameless = state == "available" and not endpoint["PrivateDnsEnabled"]
    return "without private DNS" if nameless else state


def _check_policy(world: World, name: str, endpoint: dict[str, Any]) -> Iterator[Break]:
    """Yield a break if the policy denies or leaves out what the root's policy has.

    Some services have further statements, so those of the root must be among them. The policies
    of an existing VPC are its owner's, and the root has none.
    """
    policy = _read_network(world)["endpoint_policy"]
    if policy is None:
        return
    wanted = json.loads(policy)
    statements = json.loads(endpoint["PolicyDocument"]).get("Statement", [])
    denies = [each for each in statements if each["Effect"] != "Allow"]
    lacking = [each for each in wanted["Statement"] if each not in statements]
    if denies or (lacking and not any(_allows_all(each) for each in statements)):
        yield Break(
            "endpoint-policy-changed",
            name,
            f"the policy of {endpoint['VpcEndpointId']} is not the one of Terraform",
            "own principals on own resources are allowed",
        )


def _check_rules(world: World, groups: tuple[str, ...]) -> Iterator[Break]:
    for place in list_places(world):
        call = Call(_CONSUMER, place.group_ids, groups, _HTTPS)
        if not lets_out(world, call):
            yield break_of(call, "service-rule-missing", place.name, outgoing=True)
        if not lets_in(world, call):
            yield break_of(call, "service-rule-missing", place.name, outgoing=False)


def _allows_all(statement: dict[str, Any]) -> bool:
    return statement.get("Action") == "*" and not statement.get("Condition")


def _read_network(world: World) -> dict[str, Any]:
    network: dict[str, Any] = world.outputs(_CONSUMER)["platform"]["network"]
    return network


def _list_endpoints(world: World, kind: str) -> list[dict[str, Any]]:
    by_vpc = [{"Name": "vpc-id", "Values": [_read_network(world)["vpc_id"]]}]
    answer = world.ask(_CONSUMER, "ec2", "describe_vpc_endpoints", Filters=by_vpc)
    return [
        each
        for each in answer["VpcEndpoints"]
        if each["VpcEndpointType"] == kind and each["State"].lower() not in {"deleted", "deleting"}
    ]
