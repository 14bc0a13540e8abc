"""The way through the producer's account: endpoint service, load balancer, listener, target."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.extensions.doctor.accounts import World
from penstock.extensions.doctor.findings import Break, Seen, Side
from penstock.extensions.doctor.hops.endpoints import list_brokers

_PRODUCER = Side.PRODUCER
_ENFORCES = "EnforceSecurityGroupInboundRulesOnPrivateLinkTraffic"


def look_at_services(world: World) -> Iterator[Seen | Break]:
    """Check that each broker has an endpoint service that lets the consumer connect."""
    consumer = world.deployment.account_of(Side.CONSUMER)
    for name, broker in list_brokers(world):
        service = broker["service_id"]
        if _find_service(world, broker) is None:
            yield Break(
                "endpoint-service-missing",
                name,
                f"no endpoint service {service}",
                "one for each broker",
                f"{world.apply(_PRODUCER)}, then a new contract",
            )
            continue
        asked = {"ServiceId": service}
        found = world.ask(_PRODUCER, "ec2", "describe_vpc_endpoint_service_permissions", **asked)
        allowed = [each["Principal"] for each in found["AllowedPrincipals"]]
        if consumer and not any(_covers(each, consumer) for each in allowed):
            yield Break(
                "principal-missing",
                name,
                f"endpoint service {service} lets {', '.join(allowed) or 'nobody'} connect",
                f"account {consumer}",
            )
        else:
            yield Seen(f"{name}: {service} lets the consumer connect")


def look_at_load_balancers(world: World) -> Iterator[Seen | Break]:
    """Check that each endpoint service has an active load balancer that lets PrivateLink in."""
    for name, broker in list_brokers(world):
        found = _find_balancer(world, broker)
        state = found["State"]["Code"] if found else "missing"
        if found is None or state not in {"active", "active_impaired"}:
            yield Break(
                "load-balancer-missing",
                name,
                f"its load balancer is {state}",
                "active",
                is_symptom=_find_service(world, broker) is None,
            )
        elif found.get(_ENFORCES) == "on":  # its security group has no ingress rule
            yield Break(
                "balancer-closed",
                name,
                f"{found['LoadBalancerName']} applies its security group's ingress rules to "
                "PrivateLink",
                "PrivateLink is exempt from them",
            )
        else:
            yield Seen(f"{name}: {found['LoadBalancerName']} is active")


def look_at_listeners(world: World) -> Iterator[Seen | Break]:
    """Check that each load balancer listens on the broker's port, and forwards to a group."""
    for name, broker in list_brokers(world):
        ports = [each["Port"] for each in _list_listeners(world, broker)]
        if broker["port"] not in ports:
            seen = ", ".join(map(str, ports)) or "no port"
            yield Break(
                "listener-missing",
                name,
                f"its load balancer listens on {seen}",
                f"{broker['port']}",
                is_symptom=_find_balancer(world, broker) is None,
            )
        else:
            yield Seen(f"{name}: listens on {broker['port']}")


def look_at_targets(world: World) -> Iterator[Seen | Break]:
    """Check that the target of each listener is the broker, and that it is healthy."""
    addresses = _read_addresses(world)
    for number, (name, broker) in zip(world.contract["brokers"], list_brokers(world), strict=True):
        groups = _list_groups(world, broker)
        targets = [each for group in groups for each in _list_targets(world, group)]
        found = [each["Target"]["Id"] for each in targets]
        wanted = addresses.get(number, "the broker's address")
        states = {each["TargetHealth"]["State"] for each in targets}
        if found != [wanted] and (not found or number in addresses):
            yield Break(
                "target-wrong",
                name,
                f"the target is {', '.join(found) or 'missing'}",
                wanted,
                is_symptom=not groups,
            )
        elif not states <= {"healthy", "initial"}:
            yield Break(
                "target-unhealthy",
                name,
                f"target {found[0]} is {', '.join(sorted(states))}",
                "healthy",
                "compare the brokers' security group, and the state of the cluster",
                is_symptom=True,
            )
        else:
            yield Seen(f"{name}: target {found[0]} is {', '.join(sorted(states))}")


def find_balancers(world: World) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name of each broker with its load balancer, if there is one."""
    for name, broker in list_brokers(world):
        if found := _find_balancer(world, broker):
            yield name, found


def _find_service(world: World, broker: dict[str, Any]) -> dict[str, Any] | None:
    answer = world.ask(_PRODUCER, "ec2", "describe_vpc_endpoint_service_configurations")
    found = [
        each
        for each in answer["ServiceConfigurations"]
        if each["ServiceId"] == broker["service_id"]
    ]
    return found[0] if found else None


def _find_balancer(world: World, broker: dict[str, Any]) -> dict[str, Any] | None:
    service = _find_service(world, broker)
    if service is None:
        return None
    arns = service["NetworkLoadBalancerArns"]
    answer = world.ask(_PRODUCER, "elbv2", "describe_load_balancers", LoadBalancerArns=arns)
    return answer["LoadBalancers"][0] if answer else None


def _list_listeners(world: World, broker: dict[str, Any]) -> list[dict[str, Any]]:
    balancer = _find_balancer(world, broker)
    if balancer is None:
        return []
    asked = {"LoadBalancerArn": balancer["LoadBalancerArn"]}
    answer = world.ask(_PRODUCER, "elbv2", "describe_listeners", **asked)
    return list(answer["Listeners"]) if answer else []


def _list_groups(world: World, broker: dict[str, Any]) -> list[str]:
    """Return the target groups that the listener on the broker's port forwards to."""
    return [
        action["TargetGroupArn"]
        for each in _list_listeners(world, broker)
        if each["Port"] == broker["port"]
        for action in each["DefaultActions"]
        if action.get("TargetGroupArn")
    ]


def _list_targets(world: World, group: str) -> list[dict[str, Any]]:
    answer = world.ask(_PRODUCER, "elbv2", "describe_target_health", TargetGroupArn=group)
    return list(answer["TargetHealthDescriptions"]) if answer else []


def _read_addresses(world: World) -> dict[str, str]:
    """Return the addresses of the brokers by their numbers; the nodes are controllers too."""
    arn = world.contract["cluster"]["arn"]
    answer = world.ask(_PRODUCER, "kafka", "list_nodes", ClusterArn=arn)
    nodes = [each.get("BrokerNodeInfo") for each in (answer or {}).get("NodeInfoList", [])]
    return {f"{int(node['BrokerId'])}": node["ClientVpcIpAddress"] for node in nodes if node}


def _covers(principal: str, account: str) -> bool:
    return principal == "*" or account in principal.split(":")
