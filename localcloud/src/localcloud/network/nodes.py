"""Both ends of a path: the sources in VPCs, and the servers behind network interfaces."""

from __future__ import annotations

from collections.abc import Mapping
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


@dataclass(frozen=True, slots=True)
class Target:
    """A server behind a managed connection: the port that clients dial, and the server's own."""

    node: Node
    port: int
    server_port: int


@dataclass(frozen=True, slots=True)
class ManagedConnection:
    """A way from a VPC to servers that an AWS service made, such as a VPC connection of MSK.

    The VPC resolves the names of `targets`, and the security groups decide who is let in.
    """

    id: str
    vpc_id: str
    subnet_ids: tuple[str, ...]
    group_ids: tuple[str, ...]
    targets: Mapping[str, Target]


@dataclass(slots=True)
class Nodes:
    """All registered servers; the service that starts a server plugs it in and unplugs it."""

    _by_interface: dict[str, Node] = field(default_factory=dict)
    _connections: dict[str, ManagedConnection] = field(default_factory=dict)

    def plug(self, node: Node) -> None:
        """Register a server behind its interface, replacing an earlier one."""
        self._by_interface[node.interface_id] = node

    def unplug(self, interface_id: str) -> None:
        """Remove the server behind an interface."""
        self._by_interface.pop(interface_id, None)

    def behind(self, interface_id: str) -> Node | None:
        """Return the server behind an interface, or None."""
        return self._by_interface.get(interface_id)

    def connect(self, connection: ManagedConnection) -> None:
        """Register a managed connection, replacing an earlier one of its id."""
        self._connections[connection.id] = connection

    def disconnect(self, connection_id: str) -> None:
        """Remove a managed connection."""
        self._connections.pop(connection_id, None)

    def connections(self, vpc_id: str) -> list[ManagedConnection]:
        """List the managed connections of a VPC."""
        return [it for it in list(self._connections.values()) if it.vpc_id == vpc_id]

    def ports(self) -> frozenset[int]:
        """Return the ports of all servers, and those of managed connections."""
        managed = (
            target.port
            for connection in list(self._connections.values())
            for target in connection.targets.values()
        )
        return frozenset(managed).union(*(node.ports for node in self.all()))

    def all(self) -> list[Node]:
        """List all registered servers."""
        return list(self._by_interface.values())
