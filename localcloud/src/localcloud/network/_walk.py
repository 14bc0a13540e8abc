"""One walk from a VPC to a server: a method per hop, in order."""

from __future__ import annotations

from ipaddress import IPv4Network
from typing import Any, NoReturn

from localcloud.errors import MissingHopError
from localcloud.network import inventory
from localcloud.network._firewall import Party, lets_in, lets_out
from localcloud.network._routes import follow_route, peered_vpcs, route_tables
from localcloud.network.nodes import ManagedConnection, Node, Nodes, Source, Target

_ANYWHERE = IPv4Network("0.0.0.0/0")


class Walk:
    """The hops found so far, from one source."""

    def __init__(self, nodes: Nodes, source: Source) -> None:
        self.hops: list[str] = []
        self._nodes = nodes
        found = inventory.find_vpc(source.vpc_id)
        if found is None:
            raise MissingHopError(f"there is no VPC {source.vpc_id} in any account")
        self.ec2, self._vpc = found
        self._subnet_ids = source.subnet_ids
        self._group_ids = source.group_ids
        self._party = self._describe_source(source)

    def run(self, host: str, port: int) -> tuple[Node, int]:
        """Walk to the server and return it with its port."""
        for connection in self._nodes.connections(self._vpc.id):
            if host in connection.targets and inventory.resolves_private_names(self._vpc):
                return self._through(connection, connection.targets[host], port)
        zone = inventory.zone_of_name(inventory.answering_zones(self._vpc.id), host)
        if zone is None:
            return self._to_address(host, port), port
        endpoint = self._to_endpoint(zone, host)
        self.into_endpoint(endpoint, port)
        owner, balancer = self._to_balancer(endpoint)
        self._into_balancer(owner, balancer, port)
        group = self._to_target_group(owner, balancer, port)
        return self._to_targets(owner, balancer, group, host)

    def _describe_source(self, source: Source) -> Party:
        vpc_id = source.vpc_id
        subnets = [inventory.find_subnet(self.ec2, vpc_id, it) for it in source.subnet_ids]
        networks = tuple(subnet.cidr for subnet in subnets)
        networks = networks or (IPv4Network(self._vpc.cidr_block),)
        if source.group_ids is None:
            groups = tuple(self.ec2.groups.get(vpc_id, ()))  # moto's default would add an entry
            return Party(f"anyone in {vpc_id}", groups, networks, anyone=True)
        for group_id in source.group_ids:
            if self.ec2.get_security_group_from_id(group_id) is None:
                self._miss(f"{vpc_id} has no security group {group_id}")
        return Party(f"{', '.join(source.group_ids)} of {vpc_id}", source.group_ids, networks)

    def _through(
        self, connection: ManagedConnection, target: Target, port: int
    ) -> tuple[Node, int]:
        """Walk over a connection that a service made in this VPC."""
        vpc_id, subnet_ids = self._vpc.id, connection.subnet_ids
        networks = tuple(inventory.find_subnet(self.ec2, vpc_id, it).cidr for it in subnet_ids)
        there = Party(f"connection {connection.id}", connection.group_ids, networks)
        self.check_out(there, port)
        self._check_in(self._groups(self.ec2, connection.group_ids), there.title, self._party, port)
        self.hops.append(there.title)
        if port != target.port:
            self._miss(f"{there.title} leads to {target.node.name} on port {target.port} only")
        interface = inventory.find_interface(target.node.interface_id)
        if interface is not None:  # assumption `vpc-connection-sources`
            self._into_interface(interface, Party("the service's network", (), (_ANYWHERE,)), port)
        self.hops.append(f"server {target.node.name}")
        return target.node, target.server_port

    def _to_address(self, host: str, port: int) -> Node:
        """Walk to a server by its address, in its own VPC or in a peered one."""
        for node in self._nodes.all():
            interface = inventory.find_interface(node.interface_id)
            if inventory.plain_name(node.name) != host or interface is None:
                continue
            if interface.vpc_id != self._vpc.id:
                if interface.vpc_id not in peered_vpcs(self._vpc.id):
                    continue
                self._cross_peering(interface)
            self.check_out(self._interface_party(interface), port)
            self._into_interface(interface, self._party, port)
            self.hops.append(f"server {node.name}")
            return node
        self._miss(
            f"no private zone of {self._vpc.id} answers for {host}; create one for "
            f"{host.partition('.')[2]} and associate it with the VPC, or peer it with the VPC of "
            f"{host}"
        )

    def _cross_peering(self, interface: Any) -> None:
        """Follow the routes to a server of another VPC, and those of its answers back."""
        address = IPv4Network(interface.private_ip_address)
        there = f"{interface.private_ip_address} in {interface.vpc_id}"
        subnet_ids = self._subnet_ids or inventory.subnet_ids(self.ec2, self._vpc.id)
        tables = route_tables(self.ec2, self._vpc.id, subnet_ids)
        connection = self._follow(tables, (address,), there)
        if interface.vpc_id not in {connection.vpc.id, connection.peer_vpc.id}:
            self._miss(f"peering connection {connection.id} does not lead to {interface.vpc_id}")
        self.hops.append(f"peering connection {connection.id}")
        found = inventory.find_vpc(interface.vpc_id)
        owner = found[0] if found else self.ec2
        tables = route_tables(owner, interface.vpc_id, (interface.subnet.id,))
        self._follow(tables, self._party.networks, f"{self._party.title}, for answers")
        self.hops.append(f"route back in {interface.vpc_id}")

    def _follow(self, tables: list[Any], networks: tuple[IPv4Network, ...], title: str) -> Any:
        """Return the peering connection that every one of the tables leads to."""
        ways = [
            follow_route(table, network, f"{title} ({network})")
            for table in tables
            for network in networks
        ]
        return ways[0]

    def _to_endpoint(self, zone: Any, host: str) -> Any:
        name = f"{zone.resource_id} ({inventory.plain_name(zone.name)})"
        self.hops.append(f"private zone {name}")
        target = inventory.address_records(zone).get(host)
        if target is None:
            self._miss(f"private zone {name} has no record {host}; add an alias to its endpoint")
        self.hops.append(f"record {host} -> {target}")
        for endpoint in inventory.endpoints(self.ec2, self._vpc.id):
            entries = [inventory.plain_name(entry["dns_name"]) for entry in endpoint.dns_entries]
            if target in entries:
                return endpoint
        self._miss(
            f"record {host} of private zone {name} leads to {target}, which is no interface "
            f"endpoint of {self._vpc.id}; make it an alias of one"
        )

    def into_endpoint(self, endpoint: Any, port: int) -> None:
        if endpoint.state != "available":
            self._miss(
                f"endpoint {endpoint.id} is {endpoint.state}, not available; the owner of "
                f"{endpoint.service_name} has to accept it"
            )
        groups = self._groups(self.ec2, endpoint.security_group_ids)
        there = Party(
            f"endpoint {endpoint.id}",
            tuple(endpoint.security_group_ids),
            tuple(
                inventory.find_subnet(self.ec2, self._vpc.id, it).cidr for it in endpoint.subnet_ids
            ),
        )
        self.check_out(there, port)
        self._check_in(groups, there.title, self._party, port)
        self.hops.append(f"endpoint {endpoint.id}")

    def _to_balancer(self, endpoint: Any) -> tuple[Any, Any]:
        found = inventory.find_endpoint_service(endpoint.service_name)
        if found is None:
            self._miss(
                f"endpoint {endpoint.id} is for {endpoint.service_name}, and there is no such "
                "endpoint service; create the endpoint again for one that exists"
            )
        owner, service = found
        # A connection that was accepted stays when its principal is removed.
        self.hops.append(f"endpoint service {service.id} of account {owner.account_id}")
        for arn in service.network_load_balancer_arns:
            balancer = inventory.find_load_balancer(owner.account_id, owner.region_name, arn)
            if balancer is not None:
                return owner, balancer
        self._miss(f"endpoint service {service.id} has no network load balancer; give it one")

    def _into_balancer(self, owner: Any, balancer: Any, port: int) -> None:
        title = f"load balancer {balancer.name}"
        # AWS checks the client's own address here, not the endpoint's.
        if balancer.security_groups and _enforces(balancer):
            client = Party(f"{self._party.title} by PrivateLink", (), self._party.networks)
            self._check_in(self._groups(owner, balancer.security_groups), title, client, port)
        self.hops.append(title)

    def _to_target_group(self, owner: Any, balancer: Any, port: int) -> Any:
        listeners = list(balancer.listeners.values())
        listener = next((it for it in listeners if int(it.port) == port), None)
        if listener is None:
            ports = ", ".join(sorted(str(it.port) for it in listeners)) or "no port"
            self._miss(
                f"load balancer {balancer.name} does not listen on {port} (it does on {ports}); "
                "add a TCP listener"
            )
        self.hops.append(f"listener {listener.protocol} {port}")
        for arn in inventory.forward_target_groups(listener):
            group = inventory.find_target_group(owner.account_id, owner.region_name, arn)
            if group is not None:
                self.hops.append(f"target group {group.name}")
                return group
        self._miss(
            f"the listener of load balancer {balancer.name} on {port} forwards to no target "
            "group; give it a default action"
        )

    def _to_targets(self, owner: Any, balancer: Any, group: Any, host: str) -> tuple[Node, int]:
        """Check every target: the load balancer may choose any of them."""
        reached = []
        for target in list(group.targets.values()):
            address, port = target["Id"], int(target["Port"])
            self.hops.append(f"target {address}:{port}")
            interface = inventory.interface_with_address(owner, group.vpc_id, address)
            node = interface and self._nodes.behind(interface.id)
            if node is None:
                self._miss(
                    f"no server is behind target {address}:{port} of target group {group.name}; "
                    f"register the address of a broker in {group.vpc_id}"
                )
            self._leave_balancer(owner, balancer, interface, port)
            if inventory.plain_name(node.name) != host:
                self._miss(
                    f"target {address} of target group {group.name} is {node.name}, whose "
                    f"certificate is not for {host}; register the address of {host} instead"
                )
            self.hops.append(f"server {node.name}")
            reached.append((node, port))
        if not reached:
            self._miss(f"target group {group.name} has no target; register the broker's address")
        return reached[0]

    def _leave_balancer(self, owner: Any, balancer: Any, interface: Any, port: int) -> None:
        here = Party(
            f"load balancer {balancer.name}",
            tuple(balancer.security_groups),
            tuple(subnet.cidr for subnet in balancer.subnets),
        )
        there = self._interface_party(interface)
        groups = self._groups(owner, balancer.security_groups)
        if groups and not lets_out(groups, there, port):
            self._miss(_no_egress(here.title, here.group_ids, there.title, port))
        self._into_interface(interface, here, port)

    def _into_interface(self, interface: Any, source: Party, port: int) -> None:
        there = self._interface_party(interface)
        self._check_in(interface.group_set, there.title, source, port)
        self.hops.append(there.title)

    def _interface_party(self, interface: Any) -> Party:
        return Party(
            f"network interface {interface.id}",
            tuple(group.id for group in interface.group_set),
            (IPv4Network(interface.private_ip_address),),
        )

    def check_out(self, target: Party, port: int) -> None:
        if self._group_ids is None:
            return
        if not lets_out(self._groups(self.ec2, self._group_ids), target, port):
            self._miss(_no_egress(self._vpc.id, self._group_ids, target.title, port))

    def _check_in(self, groups: list[Any], title: str, source: Party, port: int) -> None:
        if not lets_in(groups, source, port):
            names = ", ".join(group.id for group in groups) or "none"
            self._miss(
                f"security groups of {title} ({names}) let no TCP {port} in from {source.title}; "
                "add an ingress rule"
            )

    def _groups(self, ec2: Any, group_ids: tuple[str, ...]) -> list[Any]:
        found = (ec2.get_security_group_from_id(group_id) for group_id in group_ids)
        return [group for group in found if group is not None]

    def _miss(self, sentence: str) -> NoReturn:
        raise MissingHopError(sentence)


def _enforces(balancer: Any) -> bool:
    key = "enforce_security_group_inbound_rules_on_private_link_traffic"
    return getattr(balancer, key, "on") != "off"


def _no_egress(title: str, group_ids: tuple[str, ...], target: str, port: int) -> str:
    return (
        f"security groups of {title} ({', '.join(group_ids)}) let no TCP {port} out to {target}; "
        "add an egress rule"
    )
