"""MSK's own connection of a VPC to the brokers (multi-VPC private connectivity)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.extensions.doctor.accounts import World
from penstock.extensions.doctor.findings import Break, NotSeenError, Seen, Side
from penstock.extensions.doctor.hops.cluster import find_nodes
from penstock.extensions.doctor.hops.endpoints import find_vpc, list_brokers
from penstock.extensions.doctor.hops.firewall import Call, break_of, lets_in, lets_out
from penstock.extensions.doctor.hops.places import list_places

_CONSUMER = Side.CONSUMER


def look_at_connectivity(world: World) -> Iterator[Seen | Break]:
    """Check that the cluster takes connections of other VPCs, and lets the consumer make one."""
    name, arn = (world.contract["cluster"][part] for part in ("name", "arn"))
    offered = find_nodes(world).get("ConnectivityInfo", {}).get("VpcConnectivity", {})
    sasl = offered.get("ClientAuthentication", {}).get("Sasl", {})
    if not sasl.get("Scram", {}).get("Enabled"):
        yield Break(
            "multi-vpc-off",
            name,
            "the cluster has no multi-VPC connectivity with SCRAM",
            "on, as exposure multi_vpc of the producer's root has it",
        )
    policy = world.ask(Side.PRODUCER, "kafka", "get_cluster_policy", ClusterArn=arn)
    consumer = world.deployment.account_of(_CONSUMER)
    if policy is None or (consumer and consumer not in policy["Policy"]):
        yield Break(
            "cluster-policy-missing",
            name,
            f"the policy of the cluster does not name account {consumer}"
            if policy
            else "the cluster has no policy",
            "a policy that lets the consumer connect",
        )
    yield Seen(f"{name} takes connections of other VPCs")


def look_at_connection(world: World) -> Iterator[Seen | Break]:
    """Check that the connection of the consumer's VPC is there and available."""
    found = _find_connection(world)
    state = found["State"] if found else "missing"
    if found is None or state != "AVAILABLE":
        yield Break(
            "vpc-connection-not-available",
            world.contract["cluster"]["name"],
            f"the connection of {find_vpc(world)} is {state}",
            "AVAILABLE",
            is_symptom=True,
        )
    else:
        yield Seen(f"{found['VpcConnectionArn'].rpartition('/')[2]} is available")


def look_at_rules(world: World) -> Iterator[Seen | Break]:
    """Check that the programs may call the connection, and that it lets them in."""
    found = _find_connection(world)
    if found is None:
        raise NotSeenError("there is no connection, which would tell the security groups")
    asked = {"Arn": found["VpcConnectionArn"]}
    groups = world.ask(_CONSUMER, "kafka", "describe_vpc_connection", **asked)["SecurityGroups"]
    ports = sorted({broker["port"] for _, broker in list_brokers(world)})
    for place in list_places(world):
        for call in (Call(_CONSUMER, place.group_ids, groups, port) for port in ports):
            if not lets_out(world, call):
                yield break_of(call, "client-egress-missing", place.name, outgoing=True)
            if not lets_in(world, call):
                yield break_of(call, "endpoint-ingress-missing", place.name, outgoing=False)
    yield Seen("each program may call the connection")


def _find_connection(world: World) -> dict[str, Any] | None:
    """Return the connection of the consumer's VPC to the cluster, one that is available first."""
    answer = world.ask(_CONSUMER, "kafka", "list_vpc_connections")
    arn, vpc_id = world.contract["cluster"]["arn"], find_vpc(world)
    found = [
        each
        for each in answer["VpcConnections"]
        if each["TargetClusterArn"] == arn and each["VpcId"] == vpc_id
    ]
    return min(found, key=lambda each: each["State"] != "AVAILABLE", default=None)
