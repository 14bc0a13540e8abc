"""The security groups on both sides of the endpoints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, ip_network
from typing import Any

from penstock.extensions.doctor.accounts import World
from penstock.extensions.doctor.findings import Break, NotSeenError, Seen, Side
from penstock.extensions.doctor.hops.balancers import find_balancers
from penstock.extensions.doctor.hops.cluster import find_nodes
from penstock.extensions.doctor.hops.endpoints import find_endpoint, list_brokers
from penstock.extensions.doctor.hops.places import list_places


@dataclass(frozen=True, slots=True)
class Call:
    """A call within a VPC: the security groups of both ends, and the port."""

    side: Side
    callers: Sequence[str]
    called: Sequence[str]
    port: int


def look_at_clients_rules(world: World) -> Iterator[Seen | Break]:
    """Check that the programs of the consumer may call out to the endpoints of the brokers."""
    for name, call in _list_calls(world):
        if not lets_out(world, call):
            yield break_of(call, "client-egress-missing", name, outgoing=True)
    yield Seen("each program may call the endpoints of the brokers")


def look_at_endpoints_rules(world: World) -> Iterator[Seen | Break]:
    """Check that the endpoints of the brokers let the programs of the consumer in."""
    for name, call in _list_calls(world):
        if not lets_in(world, call):
            yield break_of(call, "endpoint-ingress-missing", name, outgoing=False)
    yield Seen("the endpoints of the brokers let each program in")


def look_at_brokers_rules(world: World) -> Iterator[Seen | Break]:
    """Check that the load balancers may call the brokers, and that the brokers let them in."""
    port = next(broker["port"] for _, broker in list_brokers(world))
    groups = sorted({group for _, it in find_balancers(world) for group in it["SecurityGroups"]})
    if not groups:
        raise NotSeenError("no load balancer tells the security groups")
    call = Call(Side.PRODUCER, groups, list_broker_groups(world), port)
    if not lets_out(world, call):
        yield break_of(call, "balancer-egress-missing", "load balancers", outgoing=True)
    if not lets_in(world, call):
        yield break_of(call, "broker-ingress-missing", "brokers", outgoing=False)
    yield Seen("the load balancers may call the brokers")


def lets_out(world: World, call: Call) -> bool:
    """Return whether the callers' security groups have a rule for a call."""
    return _has_rule(world, call, "IpPermissionsEgress", call.callers, call.called)


def lets_in(world: World, call: Call) -> bool:
    """Return whether the called security groups have a rule for a call."""
    return _has_rule(world, call, "IpPermissions", call.called, call.callers)


def lets_out_to(world: World, side: Side, groups: Sequence[str], network: str, port: int) -> bool:
    """Return whether security groups have a rule for calls to all addresses of a network."""
    rules = [rule for it in _read_groups(world, side, groups) for rule in it["IpPermissionsEgress"]]
    return any(_fits(rule, set(), [IPv4Network(network)], port) for rule in rules)


def lets_in_from(world: World, side: Side, groups: Sequence[str], network: str, port: int) -> bool:
    """Return whether security groups have a rule for calls from all addresses of a network."""
    rules = [rule for it in _read_groups(world, side, groups) for rule in it["IpPermissions"]]
    return any(_fits(rule, set(), [IPv4Network(network)], port) for rule in rules)


def break_of(call: Call, code: str, about: str, *, outgoing: bool) -> Break:
    """Return the break of a call that has no rule."""
    own, others = (call.callers, call.called) if outgoing else (call.called, call.callers)
    way = "out to" if outgoing else "in from"
    return Break(
        code,
        about,
        f"{', '.join(own)} lets no TCP {call.port} {way} {', '.join(others)}",
        "a rule for it",
    )


def _has_rule(
    world: World, call: Call, way: str, own: Sequence[str], others: Sequence[str]
) -> bool:
    """Return whether a rule is for one of the other groups, or for all addresses of their VPC."""
    rules = [rule for group in _read_groups(world, call.side, own) for rule in group[way]]
    vpcs = {group["VpcId"] for group in _read_groups(world, call.side, others)}
    networks = [it for vpc in sorted(vpcs) for it in _read_networks(world, call.side, vpc)]
    return any(_fits(rule, set(others), networks, call.port) for rule in rules)


def _list_calls(world: World) -> Iterator[tuple[str, Call]]:
    """Yield the calls of the consumer's programs to the endpoints of the brokers."""
    brokers = [broker for _, broker in list_brokers(world)]
    found = filter(None, (find_endpoint(world, each) for each in brokers))
    groups = sorted({group["GroupId"] for endpoint in found for group in endpoint["Groups"]})
    if not groups:
        raise NotSeenError("no endpoint of a broker tells the security groups")
    for place in list_places(world):
        yield place.name, Call(Side.CONSUMER, place.group_ids, groups, brokers[0]["port"])


def list_broker_groups(world: World) -> list[str]:
    """Return the security groups of the brokers.

    Raises:
        NotSeenError: there is no cluster.
    """
    return list(find_nodes(world)["SecurityGroups"])


def _read_groups(world: World, side: Side, ids: Sequence[str]) -> list[dict[str, Any]]:
    wanted = [{"Name": "group-id", "Values": sorted(ids)}]
    answer = world.ask(side, "ec2", "describe_security_groups", Filters=wanted)
    return list(answer["SecurityGroups"])


def _read_networks(world: World, side: Side, vpc_id: str) -> list[IPv4Network]:
    answer = world.ask(side, "ec2", "describe_vpcs", VpcIds=[vpc_id])
    return [IPv4Network(each["CidrBlock"]) for each in (answer or {}).get("Vpcs", [])]


def _fits(rule: dict[str, Any], groups: set[str], networks: list[IPv4Network], port: int) -> bool:
    is_tcp = rule["IpProtocol"] in {"tcp", "6"} and rule["FromPort"] <= port <= rule["ToPort"]
    if not is_tcp and rule["IpProtocol"] != "-1":
        return False
    if any(pair.get("GroupId") in groups for pair in rule.get("UserIdGroupPairs", [])):
        return True
    ranges = [ip_network(each["CidrIp"], strict=False) for each in rule.get("IpRanges", [])]
    return bool(networks) and all(
        any(isinstance(wide, IPv4Network) and each.subnet_of(wide) for wide in ranges)
        for each in networks
    )
