"""Both ends of a path: the sources in VPCs, and the servers behind network interfaces."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Source:
    """The source of a connection: a function, poller or job with interfaces in a VPC.

    Without groups it is anyone in the VPC; a security group accepts it if it accepts any member of
    the VPC.
    """

    vpc_id: str
    subnet_ids: tuple[str, ...] = ()
    group_ids: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """A server on this machine behind a network interface that was created through the API.

    Clients connect to `name`, which is in its certificate. It listens on the loopback address
    `address`, on the same ports as in its VPC.
    """

    name: str
    interface_id: str
    address: str
    ports: frozenset[int]


@dataclass(slots=True)
class Nodes:
    """All registered servers; the service that starts a server plugs it in and unplugs it."""

    _by_interface: dict[str, Node] = field(default_factory=dict)

    def plug(self, node: Node) -> None:
        """Register a server behind its interface, replacing an earlier one."""
        self._by_interface[node.interface_id] = node

    def unplug(self, interface_id: str) -> None:
        """Remove the server behind an interface."""
        self._by_interface.pop(interface_id, None)

    def behind(self, interface_id: str) -> Node | None:
        """Return the server behind an interface, or None."""
        return self._by_interface.get(interface_id)

    def ports(self) -> frozenset[int]:
        """Return the ports of all servers."""
        return frozenset().union(*(node.ports for node in self.all()))

    def all(self) -> list[Node]:
        """List all registered servers."""
        return list(self._by_interface.values())
