"""The peering connection of both VPCs: active, with routes and rules on each side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from penstock.extensions.doctor.accounts import World
from penstock.extensions.doctor.findings import Break, NotSeenError, Seen, Side
from penstock.extensions.doctor.hops.cluster import find_nodes
from penstock.extensions.doctor.hops.endpoints import list_brokers
from penstock.extensions.doctor.hops.firewall import lets_in_from, lets_out_to, list_broker_groups
from penstock.extensions.doctor.hops.places import list_places
from penstock.extensions.doctor.hops.routes import list_tables

_PRODUCER, _CONSUMER = Side.PRODUCER, Side.CONSUMER
# EC2 still lists such a connection for a while.
_GONE = {"deleted", "deleting", "rejected", "failed", "expired"}


@dataclass(frozen=True, slots=True)
class _Peering:
    """A peering connection: its state, and the address range of the consumer's VPC."""

    id: str
    state: str
    cidr: str


def look_at_peering(world: World) -> Iterator[Seen | Break]:
    """Check that the peering connection is active."""
    found = _find_peering(world, _CONSUMER)
    if found.state == "active":
        yield Seen(f"{found.id} is active")
        return
    is_waiting = found.state == "pending-acceptance"
    yield Break(
        "peering-not-active",
        found.id,
        f"the connection is {found.state}",
        "active: the producer's entry of the consumer has the id and the address range of its "
        "output peering",
        world.apply(_PRODUCER if is_waiting else _CONSUMER),
    )


def look_at_routes_to_brokers(world: World) -> Iterator[Seen | Break]:
    """Check that the subnets of the consumer's programs have a route to the brokers' VPC."""
    network = world.outputs(_CONSUMER)["platform"]["network"]
    cidr = world.contract["peering"]["cidr"]
    way = _find_peering(world, _CONSUMER)
    yield from _check_routes(
        world, _CONSUMER, network["vpc_id"], network["subnet_ids"], (way, cidr)
    )


def look_at_routes_to_consumer(world: World) -> Iterator[Seen | Break]:
    """Check that the subnets of the brokers have a route to the consumer's VPC."""
    way = _find_peering(world, _PRODUCER)
    subnets, vpc_id = find_nodes(world)["ClientSubnets"], world.contract["peering"]["vpc_id"]
    yield from _check_routes(world, _PRODUCER, vpc_id, subnets, (way, way.cidr))


def look_at_clients_rules(world: World) -> Iterator[Seen | Break]:
    """Check that the programs of the consumer may call out to the brokers' VPC."""
    port, cidr = _find_port(world), world.contract["peering"]["cidr"]
    for place in list_places(world):
        groups = place.group_ids
        if not lets_out_to(world, _CONSUMER, groups, cidr, port):
            seen = f"{', '.join(groups)} lets no TCP {port} out to {cidr}"
            yield Break("client-egress-missing", place.name, seen, "a rule for it")
    yield Seen("each program may call the brokers' VPC")


def look_at_brokers_rules(world: World) -> Iterator[Seen | Break]:
    """Check that the brokers let the consumer's VPC in."""
    port, cidr = _find_port(world), _find_peering(world, _PRODUCER).cidr
    groups = list_broker_groups(world)
    if not lets_in_from(world, _PRODUCER, groups, cidr, port):
        seen = f"{', '.join(groups)} lets no TCP {port} in from {cidr}"
        yield Break("broker-ingress-missing", "brokers", seen, "a rule for it")
    yield Seen(f"the brokers let {cidr} in")


def _find_port(world: World) -> int:
    return next(int(broker["port"]) for _, broker in list_brokers(world))


def _find_peering(world: World, side: Side) -> _Peering:
    """Return the connection of the consumer's VPC with the brokers' VPC, before one that is gone.

    Raises:
        NotSeenError: the account has none, or several.
    """
    made = world.deployment.outputs.get(_CONSUMER, {}).get("peering") or {}
    wanted = made.get("connection_id")
    answer = world.ask(side, "ec2", "describe_vpc_peering_connections")
    found = [
        _Peering(
            each["VpcPeeringConnectionId"],
            each["Status"]["Code"],
            each["RequesterVpcInfo"].get("CidrBlock", ""),
        )
        for each in answer["VpcPeeringConnections"]
        if each["AccepterVpcInfo"].get("VpcId") == world.contract["peering"]["vpc_id"]
        and wanted in {None, each["VpcPeeringConnectionId"]}
    ]
    found = [each for each in found if each.state not in _GONE] or found
    if len(found) == 1:
        return found[0]
    if wanted and not found:
        return _Peering(wanted, "missing", made["cidr"])
    raise NotSeenError(f"{len(found)} peering connections lead to the brokers; name --consumer")


def _check_routes(
    world: World, side: Side, vpc_id: str, subnet_ids: Sequence[str], way: tuple[_Peering, str]
) -> Iterator[Seen | Break]:
    """Yield a break if subnets have no route to an address range by a connection."""
    peering, cidr = way
    tables = list_tables(world, side, vpc_id, subnet_ids)
    lacking = [
        subnet
        for subnet, own in tables.items()
        if not any(
            route.get("DestinationCidrBlock") == cidr
            and route.get("VpcPeeringConnectionId") == peering.id
            and route.get("State", "active") == "active"  # a blackhole leads nowhere
            for table in own
            for route in table["Routes"]
        )
    ]
    if lacking:
        yield Break(
            "peering-route-missing",
            cidr,
            f"no route from {', '.join(lacking)} to {cidr} by {peering.id}",
            "one in the route table of each subnet",
            is_symptom=peering.state != "active",
        )
    yield Seen(f"{len(tables)} subnets have a route to {cidr}")
