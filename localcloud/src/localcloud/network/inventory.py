"""The resources that were created through the API, read from moto's objects and never changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from moto.backends import get_backend  # EC2 takes half a second: imported at its first use
from moto.route53.models import route53_backends

from localcloud.errors import MissingHopError


def plain_name(name: str) -> str:
    """Return a DNS name in the form for comparison: lower case, without the final dot."""
    return name.lower().rstrip(".")


def regions_of_ec2() -> Iterator[Any]:
    """Yield moto's EC2 of every account and region in use."""
    for regions in list(get_backend("ec2").values()):
        yield from list(regions.values())


def find_vpc(vpc_id: str) -> tuple[Any, Any] | None:
    """Return a VPC of any account, with the EC2 of its account and region."""
    return next(
        ((ec2, ec2.vpcs[vpc_id]) for ec2 in regions_of_ec2() if vpc_id in ec2.vpcs),
        None,
    )


def find_subnet(ec2: Any, vpc_id: str, subnet_id: str) -> Any:
    """Return a subnet of a VPC; raise MissingHopError if it has no such subnet."""
    for subnets in list(ec2.subnets.values()):
        subnet = subnets.get(subnet_id)
        if subnet is not None and subnet.vpc_id == vpc_id:
            return subnet
    raise MissingHopError(f"{vpc_id} has no subnet {subnet_id}")


def subnet_ids(ec2: Any, vpc_id: str) -> list[str]:
    """List the subnets of a VPC."""
    return [
        subnet.id
        for subnets in list(ec2.subnets.values())
        for subnet in list(subnets.values())
        if subnet.vpc_id == vpc_id
    ]


def find_interface(interface_id: str) -> Any | None:
    """Return a network interface of any account."""
    return next(
        (ec2.enis[interface_id] for ec2 in regions_of_ec2() if interface_id in ec2.enis), None
    )


def interface_with_address(ec2: Any, vpc_id: str, address: str) -> Any | None:
    """Return the interface with a private address in a VPC."""
    return next(
        (
            interface
            for interface in list(ec2.enis.values())
            if interface.vpc_id == vpc_id and interface.private_ip_address == address
        ),
        None,
    )


def peering_connections() -> list[Any]:
    """List the peering connections of all accounts, those of two accounts once."""
    found = {it.id: it for ec2 in regions_of_ec2() for it in list(ec2.vpc_pcxs.values())}
    return list(found.values())


def resolves_private_names(vpc: Any) -> bool:
    """Return whether names of private zones and endpoints resolve in a VPC.

    Route 53 Developer Guide, "Considerations when working with a private hosted zone".
    """
    return _is_on(vpc.enable_dns_support) and _is_on(vpc.enable_dns_hostnames)


def _is_on(attribute: Any) -> bool:
    return str(attribute).lower() == "true"


def private_zones(vpc_id: str) -> list[Any]:
    """List the private zones that are associated with a VPC, whoever owns them."""
    return [
        zone
        for partitions in list(route53_backends.values())
        for route53 in list(partitions.values())
        for zone in list(route53.zones.values())
        if zone.private_zone and any(vpc.get("vpc_id") == vpc_id for vpc in zone.vpcs)
    ]


def answering_zones(vpc_id: str) -> list[Any]:
    """List the private zones that answer in a VPC, none if it resolves no private names."""
    vpc = find_vpc(vpc_id)
    return private_zones(vpc_id) if vpc and resolves_private_names(vpc[1]) else []


def zone_of_name(zones: Iterable[Any], name: str) -> Any | None:
    """Return the one of the zones that answer in a VPC that answers for a name: the longest."""
    covering = [
        zone for zone in zones if f".{plain_name(name)}".endswith(f".{plain_name(zone.name)}")
    ]
    return max(covering, key=lambda zone: len(zone.name), default=None)


def address_records(zone: Any) -> dict[str, str]:
    """Return the address records of a zone: {name: alias, CNAME or first address}."""
    found = {}
    for record in list(zone.rrsets):
        if record.type in {"A", "CNAME"}:
            target = (record.alias_target or {}).get("DNSName") or next(iter(record.records), "")
            found[plain_name(record.name)] = plain_name(target)
    return found


def endpoints(ec2: Any, vpc_id: str) -> list[Any]:
    """List the endpoints of a VPC that are not deleted."""
    return [
        endpoint
        for endpoint in list(ec2.vpc_end_points.values())
        if endpoint.vpc_id == vpc_id and endpoint.state != "deleted"
    ]


def is_interface(endpoint: Any) -> bool:
    """Return whether it is an interface endpoint; one without a type is a gateway."""
    return str(endpoint.vpc_endpoint_type or "Gateway").lower() == "interface"


def find_endpoint_service(service_name: str) -> tuple[Any, Any] | None:
    """Return an endpoint service of any account by its name, with the EC2 of its owner."""
    return next(
        (
            (ec2, service)
            for ec2 in regions_of_ec2()
            for service in list(ec2.configurations.values())
            if service.service_name == service_name
        ),
        None,
    )


def endpoint_services(account: str, region: str) -> dict[str, Any]:
    """Return the endpoint services of an account by id."""
    return dict(get_backend("ec2")[account][region].configurations)


def find_load_balancer(account: str, region: str, arn: str) -> Any | None:
    """Return a load balancer, None if it does not exist."""
    return get_backend("elbv2")[account][region].load_balancers.get(arn)


def find_target_group(account: str, region: str, arn: str) -> Any | None:
    """Return a target group, None if it does not exist."""
    return get_backend("elbv2")[account][region].target_groups.get(arn)


def listener_ports() -> set[int]:
    """Return every port on which a network load balancer of any account listens."""
    return {
        int(listener.port)
        for regions in list(get_backend("elbv2").values())
        for elbv2 in list(regions.values())
        for balancer in list(elbv2.load_balancers.values())
        if balancer.type == "network"
        for listener in list(balancer.listeners.values())
    }


def forward_target_groups(listener: Any) -> list[str]:
    """List the ARNs of the target groups that a listener forwards to."""
    found = []
    for action in listener.default_actions:
        data = action.data
        groups = data.get("ForwardConfig", {}).get("TargetGroups", [])
        found += [group["TargetGroupArn"] for group in groups] or [data.get("TargetGroupArn", "")]
    return [arn for arn in found if arn]
