"""The network actions under /_localcloud/: trace a path, disturb links."""

from __future__ import annotations

from typing import Any

from localcloud.cloud import Cloud
from localcloud.door.control import action, describe
from localcloud.errors import MissingHopError
from localcloud.network import path
from localcloud.network._connection import Link
from localcloud.network.nodes import Nodes, Source
from localcloud.network.views import load_network


@action("trace")
def trace(cloud: Cloud, *, host: str, port: int, vpc: str, group: str = "") -> dict[str, Any]:
    """Walk from a VPC to a host and port, as a member of a security group or as anyone."""
    source = Source(vpc, group_ids=(group,) if group else None)
    try:
        found = path.trace(cloud.state(Nodes), source, host, port)
    except MissingHopError as error:  # the walk cannot even start
        raise LookupError(str(error)) from error
    return {"hops": found.hops, "missing": found.missing}


@action("cut-link")
def cut_link(cloud: Cloud, *, host: str, vpc: str = "") -> dict[str, Any]:
    """Cut the links to a host, from one VPC or all, until they are restored."""
    links = _find_links(cloud, host, vpc)
    for link in links:
        link.is_cut = True
    load_network(cloud).reset(links)
    return _name(links)


@action("silence-link")
def silence_link(cloud: Cloud, *, host: str, vpc: str = "") -> dict[str, Any]:
    """Let the links to a host keep what is sent until restored, as a network that is split does."""
    links = _find_links(cloud, host, vpc)
    for link in links:
        link.is_silent = True
    return _name(links)


@action("reset-link")
def reset_link(cloud: Cloud, *, host: str, vpc: str = "") -> dict[str, Any]:
    """Cut the current connections to a host; new ones are accepted."""
    links = _find_links(cloud, host, vpc)
    load_network(cloud).reset(links)
    return _name(links)


@action("slow-link")
def slow_link(
    cloud: Cloud, *, host: str, vpc: str = "", latency_ms: int = 0, bytes_per_second: int = 0
) -> dict[str, Any]:
    """Slow the links to a host in each direction; 0 sets no limit."""
    for name, value in (("latency_ms", latency_ms), ("bytes_per_second", bytes_per_second)):
        if value < 0:
            raise ValueError(f"{name} is {value}, expected 0 or more")
    links = _find_links(cloud, host, vpc)
    for link in links:
        link.latency_seconds = latency_ms / 1000
        link.bytes_per_second = bytes_per_second or float("inf")
    return _name(links)


@action("expire-link")
def expire_link(cloud: Cloud, *, host: str, vpc: str = "", idle_ms: int) -> dict[str, Any]:
    """Forget the connections to a host after so long without a byte, instead of 350 s."""
    if idle_ms <= 0:
        raise ValueError(f"idle_ms is {idle_ms}, expected more than 0")
    links = _find_links(cloud, host, vpc)
    for link in links:
        link.idle_fault_seconds = idle_ms / 1000
    return _name(links)


@action("restore-link")
def restore_link(cloud: Cloud, *, host: str, vpc: str = "") -> dict[str, Any]:
    """Undo what cut-link, expire-link, silence-link and slow-link did to the links to a host."""
    links = _find_links(cloud, host, vpc)
    for link in links:
        link.mend()
    return _name(links)


@describe("links")
def describe_links(cloud: Cloud) -> list[dict[str, Any]]:
    """List the links in use, and those that refused a connection, with the reason."""
    return [
        {"name": link.name, "connections": len(link.connections), "refusal": link.refusal}
        for link in load_network(cloud).links()
        if link.connections or link.refusal
    ]


def _find_links(cloud: Cloud, host: str, vpc: str) -> list[Link]:
    links = load_network(cloud).links(host, vpc)
    if not links:
        raise LookupError(f"no process in {vpc or 'any VPC'} resolves {host} through a relay")
    return links


def _name(links: list[Link]) -> dict[str, Any]:
    return {"links": [link.name for link in links]}
