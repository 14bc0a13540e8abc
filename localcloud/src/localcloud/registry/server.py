"""The one registry of a localcloud, started on request, and what VPCs see of it.

It is a server behind network interfaces that were created through the API, as a registry on ECS or
EC2 is: their security groups judge who reaches it, and load balancers may have them as targets.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

from localcloud.brokers.addresses import check_free
from localcloud.cloud import Cloud
from localcloud.door.control import action, describe
from localcloud.network import Node, Nodes, load_network
from localcloud.network.inventory import find_interface, plain_name
from localcloud.network.loopback import LoopbackAddresses
from localcloud.registry.apicurio import ApicurioProcess


@dataclass(slots=True)
class RegistryServer:
    """The registry, None until it is started, and its host name by interface."""

    process: ApicurioProcess | None = None
    address: str = ""
    port: int = 0
    hosts: dict[str, str] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    _loopback: LoopbackAddresses = field(default_factory=LoopbackAddresses)

    def start(self, cloud: Cloud, port: int) -> ApicurioProcess:
        """Start it if it does not run; its address stays when it has to be started again.

        Raises:
            ValueError: it was started on another port.
            LocalcloudError: it cannot start.
        """
        if not self.address:
            self.address, self.port = self._loopback.take(), port
            cloud.on_stop(self.stop)
        if port != self.port:
            raise ValueError(f"the registry is on port {self.port} already, not on {port}")
        if self.process is None or not self.process.running:
            check_free(self.address, port)
            folder = cloud.folder / "registry"
            folder.mkdir(exist_ok=True)
            self.process = ApicurioProcess(self.address, port, folder / "apicurio.log")
        return self.process

    def stop(self) -> None:
        """End the process and release its address."""
        if self.process is not None:
            self.process.kill()
        self._loopback.close()


@action("start-registry")
def start_registry(
    cloud: Cloud, *, port: int = 8080, interface: str = "", host: str = ""
) -> dict[str, Any]:
    """Start Apicurio, and show it in the VPC of a network interface under a host name."""
    if bool(interface) != bool(host):
        raise ValueError(
            "interface and host go together: the interface's VPC resolves the host's name"
        )
    if interface and find_interface(interface) is None:
        raise LookupError(f"there is no network interface {interface} in any account")
    registry = cloud.state(RegistryServer)
    with registry.lock:
        registry.start(cloud, port)
        if interface:
            node = Node(plain_name(host), interface, registry.address, frozenset({port}))
            cloud.state(Nodes).plug(node)
            registry.hosts[interface] = node.name
            load_network(cloud).refresh()
    return describe_registry(cloud)[0]


@describe("registry")
def describe_registry(cloud: Cloud) -> list[dict[str, Any]]:
    """Describe the registry and its host names, if it was started."""
    registry = cloud.state(RegistryServer)
    if registry.process is None:
        return []
    return [{**registry.process.describe(), "port": registry.port, "hosts": registry.hosts}]
