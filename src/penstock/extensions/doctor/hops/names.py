"""The names of the brokers in the consumer's VPC."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.extensions.doctor.accounts import World
from penstock.extensions.doctor.findings import Break, Seen, Side
from penstock.extensions.doctor.hops.endpoints import (
    find_endpoint,
    find_vpc,
    list_brokers,
)

_ATTRIBUTES = {"enableDnsSupport": "EnableDnsSupport", "enableDnsHostnames": "EnableDnsHostnames"}


def look_at_resolution(world: World) -> Iterator[Seen | Break]:
    """Check that the VPC resolves names of private zones."""
    vpc_id = find_vpc(world)
    for name, member in _ATTRIBUTES.items():
        found = world.ask(
            Side.CONSUMER, "ec2", "describe_vpc_attribute", VpcId=vpc_id, Attribute=name
        )
        if not found[member]["Value"]:
            flag = "dns-support" if member == "EnableDnsSupport" else "dns-hostnames"
            yield Break(
                "dns-off",
                vpc_id,
                f"{name} is off",
                "on: private zones answer only with both attributes",
                f"aws ec2 modify-vpc-attribute --vpc-id {vpc_id} --enable-{flag} Value=true",
            )
    yield Seen(f"{vpc_id} resolves private names")


def look_at_zone(world: World) -> Iterator[Seen | Break]:
    """Check that the zone of the cluster's names is associated with the VPC."""
    zone = _find_zone(world)
    wanted = world.contract["cluster"]["zone_name"]
    if zone is not None:
        yield Seen(f"zone {zone} answers for {wanted}")
        return
    yield Break(
        "zone-missing",
        wanted,
        f"no private zone {wanted} is associated with {find_vpc(world)}",
        "one",
    )


def look_at_records(world: World) -> Iterator[Seen | Break]:
    """Check that the name of each broker leads to its endpoint."""
    brokers = list_brokers(world)
    zone = _find_zone(world)
    records = _read_records(world, zone) if zone else {}
    for name, broker in brokers:
        target = records.get(_plain(broker["host"]))
        endpoint = find_endpoint(world, broker)
        entries = [_plain(each["DnsName"]) for each in (endpoint or {}).get("DnsEntries", [])]
        if target is None:
            yield Break(
                "record-wrong",
                name,
                f"no record {broker['host']}",
                "an alias of the broker's endpoint",
                is_symptom=zone is None,
            )
        elif target not in entries:
            yield Break(
                "record-wrong",
                name,
                f"{broker['host']} leads to {target}",
                f"its endpoint, {entries[0] if entries else 'which is missing'}",
                is_symptom=endpoint is None,
            )
        else:
            yield Seen(f"{broker['host']} leads to its endpoint")


def _find_zone(world: World) -> str | None:
    found = world.ask(
        Side.CONSUMER,
        "route53",
        "list_hosted_zones_by_vpc",
        VPCId=find_vpc(world),
        VPCRegion=world.deployment.region,
    )
    wanted = _plain(world.contract["cluster"]["zone_name"])
    for each in found["HostedZoneSummaries"]:
        if _plain(each["Name"]) == wanted:
            return str(each["HostedZoneId"])
    return None


def _read_records(world: World, zone: str) -> dict[str, str]:
    """Return the targets of the address records by name."""
    found = world.ask(
        Side.CONSUMER, "route53", "list_resource_record_sets", HostedZoneId=zone.rpartition("/")[2]
    )
    return {
        _plain(each["Name"]): _plain(
            each.get("AliasTarget", {}).get("DNSName")
            or each.get("ResourceRecords", [{"Value": ""}])[0]["Value"]
        )
        for each in (found or {}).get("ResourceRecordSets", [])
        if each["Type"] in {"A", "CNAME"}
    }


def _plain(name: str) -> str:
    return name.lower().rstrip(".")
