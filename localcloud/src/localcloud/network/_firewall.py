"""The security-group rules that apply to a connection."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Any


@dataclass(frozen=True, slots=True)
class Party:
    """One end of a connection, as the security groups of the other end see it.

    `anyone` is any member of these groups in these networks: a rule for any of them is enough.
    Otherwise a rule must match one of the groups or all of the networks. A prefix list counts as a
    group.
    """

    title: str
    group_ids: tuple[str, ...]
    networks: tuple[IPv4Network, ...]
    anyone: bool = False


def lets_in(groups: Iterable[Any], source: Party, port: int) -> bool:
    """Return whether security groups accept a TCP connection from a party."""
    return any(_fits(rule, source, port) for group in groups for rule in group.ingress_rules)


def lets_out(groups: Iterable[Any], target: Party, port: int) -> bool:
    """Return whether security groups allow a TCP connection to a party."""
    return any(_fits(rule, target, port) for group in groups for rule in group.egress_rules)


def _fits(rule: Any, party: Party, port: int) -> bool:
    is_tcp = rule.ip_protocol == "tcp" and rule.from_port <= port <= rule.to_port
    return (is_tcp or rule.ip_protocol == "-1") and _means(rule, party)


def _means(rule: Any, party: Party) -> bool:
    named = rule.prefix_list_id or rule.source_group.get("GroupId")
    if named:
        return named in party.group_ids
    if "CidrIp" not in rule.ip_range:  # a rule for IPv6
        return False
    allowed = IPv4Network(rule.ip_range["CidrIp"], strict=False)
    if party.anyone:
        return any(network.overlaps(allowed) for network in party.networks)
    return bool(party.networks) and all(network.subnet_of(allowed) for network in party.networks)
