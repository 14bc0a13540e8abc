"""Both ends of a way: who connects from a VPC, and the servers that are plugged into VPCs."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Source:
    """Who connects: a function, poller or job with interfaces in a VPC.

    Without groups it stands for anyone in the VPC, whom a security group lets in if it lets in
    somebody of the VPC.
    """

    vpc_id: str
    subnet_ids: tuple[str, ...] = ()
    group_ids: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """A server of this machine behind a network interface that was made through the API.

    `name` is how clients dial it and what its certificate says; `address` is the loopback address
    where it really listens, on the same ports that it has inside its VPC.
    """

    name: str
    interface_id: str
    address: str
    ports: frozenset[int]


@dataclass(slots=True)
class Nodes:
    """All that is plugged in; the service that starts a server plugs it and unplugs it."""

    _by_interface: dict[str, Node] = field(default_factory=dict)

    def plug(self, node: Node) -> None:
        """Put a server behind its interface, or replace the one that is there."""
        self._by_interface[node.interface_id] = node

    def unplug(self, interface_id: str) -> None:
        """Take away what is behind an interface."""
        self._by_interface.pop(interface_id, None)

    def behind(self, interface_id: str) -> Node | None:
        """Return the server behind an interface."""
        return self._by_interface.get(interface_id)

    def ports(self) -> frozenset[int]:
        """Return every port that some server has."""
        return frozenset().union(*(node.ports for node in self.all()))

    def all(self) -> list[Node]:
        """List every server that is plugged in."""
        return list(self._by_interface.values())
