"""The view of each source in a VPC: its names, their local addresses, its address for AWS calls.

A view is created when the first process of a source needs it. Its names follow what is created
and deleted through the API. Each name has its own loopback address with relays, so the address of
a connection identifies the source and the target.
"""

from __future__ import annotations

import functools
import hashlib
import logging
import threading
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from localcloud.cloud import Cloud
from localcloud.network import inventory
from localcloud.network._connection import Link
from localcloud.network.loopback import LoopbackAddresses
from localcloud.network.names import HOSTS_VARIABLE, write_hosts
from localcloud.network.nodes import Nodes, Source
from localcloud.network.path import check_source, find_path, visible_names
from localcloud.network.relays import Relays

_log = logging.getLogger(__name__)
_PYTHON_PATH = Path(__file__).parent / "python_path"
# Also the longest delay of a change that no API call made.
_REFRESH_SECONDS = 0.5
_PAUSE_SECONDS = 0.1  # calls come in bursts, and are followed at once
# Network load balancers and PrivateLink forget a connection that was idle for so long.
_IDLE_SECONDS = 350.0
_loading = threading.Lock()


@dataclass(slots=True)
class _Name:
    """A name in a view: its address, and a link for each port."""

    address: str
    links: dict[int, Link] = field(default_factory=dict)


@dataclass(slots=True)
class View:
    """One source's view; the view of a process without a VPC has no names.

    `written` is the content of the hosts file.
    """

    source: Source | None
    hosts_file: Path
    endpoint: str
    names: dict[str, _Name] = field(default_factory=dict)
    written: dict[str, str] = field(default_factory=dict)

    @property
    def addresses(self) -> dict[str, str]:
        """The address of each name."""
        return {host: name.address for host, name in self.names.items()}

    @property
    def environment(self) -> dict[str, str]:
        """The variables that limit a Python or Java process, and its children, to this view."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "JAVA_TOOL_OPTIONS": f'"-Djdk.net.hosts.file={self.hosts_file}"',
            "PYTHONPATH": str(_PYTHON_PATH),
            HOSTS_VARIABLE: str(self.hosts_file),
        }


@dataclass(slots=True)
class _Holder:
    network: Network | None = None


def load_network(cloud: Cloud) -> Network:
    """Return the network of a localcloud, which ends with it."""
    with _loading:
        holder = cloud.state(_Holder)
        if holder.network is None:
            folder = cloud.folder / "network"
            holder.network = Network(folder, cloud.state(Nodes), cloud.endpoint)
            cloud.on_stop(holder.network.stop)
        return holder.network


class Network:
    """The views of one localcloud and the relays behind them.

    The hosts files are in a folder; `endpoint` is where localcloud answers AWS calls.
    """

    def __init__(self, folder: Path, nodes: Nodes, endpoint: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder.resolve()  # processes with other working folders read it
        self._nodes = nodes
        self._endpoint = urlsplit(endpoint)
        self._relays = Relays()
        self._loopback = LoopbackAddresses()
        self._views: dict[Source | None, View] = {}
        self._sources: dict[str, Source] = {}
        self._lock = threading.RLock()
        self._changed = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="views", daemon=True)
        self._thread.start()

    def view(self, source: Source | None) -> View:
        """Return the view of a source, created at its first use.

        Raises:
            MissingHopError: the VPC, a subnet or a security group does not exist.
            AddressInUseError: another process listens on a relay's address.
        """
        with self._lock:
            if source not in self._views:
                self._views[source] = self._make_view(source)
            view = self._views[source]
            self._update(view)
            return view

    def environment_for(self, source: Source | None) -> dict[str, str]:
        """Return the environment of a process in a VPC or without one.

        If the process needs other folders on PYTHONPATH, they must come after these.
        """
        return self.view(source).environment

    def source_at(self, address: str) -> Source | None:
        """Return the source that calls AWS from an address, None for no VPC."""
        return self._sources.get(address)

    def links(self, host: str = "", vpc_id: str = "") -> list[Link]:
        """List the links of all sources in a VPC, or of one host or VPC."""
        with self._lock:
            return [
                link
                for source, view in self._views.items()
                if source is not None and vpc_id in {"", source.vpc_id}
                for known, name in view.names.items()
                if host in {"", known}
                for link in name.links.values()
            ]

    def reset(self, links: list[Link]) -> None:
        """Cut the current connections of links."""
        self._relays.reset(links)

    def notice(self) -> None:
        """Request a refresh: a call may have changed something."""
        self._changed.set()

    def refresh(self) -> None:
        """Update all views, and cut the connections whose path is gone."""
        with self._lock:
            for view in self._views.values():
                self._update(view)
        self._relays.check()

    def stop(self) -> None:
        """Stop the thread and all relays."""
        self._stopping.set()
        self._changed.set()
        self._thread.join()
        self._relays.stop()
        self._loopback.close()

    def _make_view(self, source: Source | None) -> View:
        digest = hashlib.sha256(repr(source).encode()).hexdigest()[:12]
        hosts_file = self._folder / f"{source.vpc_id if source else 'no-vpc'}-{digest}.hosts"
        write_hosts(hosts_file, {})
        if source is None:
            return View(None, hosts_file, self._endpoint.geturl())
        check_source(self._nodes, source)
        # AWS calls leave from the address of the view's endpoint, which identifies the source.
        door = self._loopback.take()
        host, port = str(self._endpoint.hostname), int(self._endpoint.port or 80)
        link = Link(f"AWS from {source.vpc_id}", lambda: (host, port), via=door)
        self._relays.open(door, port, link)
        self._sources[door] = source
        return View(source, hosts_file, f"http://{door}:{port}")

    def _update(self, view: View) -> None:
        if view.source is None:
            return
        visible = visible_names(self._nodes, view.source.vpc_id)
        for host in view.names.keys() - visible:
            name = view.names.pop(host)
            for port in name.links:
                self._relays.close(name.address, port)
            self._loopback.give_back(name.address)
        ports = self._nodes.ports() | inventory.listener_ports()
        for host in sorted(visible):
            if host not in view.names:
                view.names[host] = _Name(self._loopback.take())
            self._open_ports(view.source, host, view.names[host], ports)
        if view.addresses != view.written:
            write_hosts(view.hosts_file, view.addresses)
            view.written = view.addresses

    def _open_ports(self, source: Source, host: str, name: _Name, ports: frozenset[int]) -> None:
        missing = ports - name.links.keys()
        if not missing:
            return
        zones = inventory.answering_zones(source.vpc_id)
        managed = any(host in it.targets for it in self._nodes.connections(source.vpc_id))
        by_endpoint = managed or inventory.zone_of_name(zones, host) is not None

        def find_target(port: int) -> tuple[str, int]:
            path = find_path(self._nodes, source, host, port)
            return path.node.address, path.port

        for port in sorted(missing):
            title = f"{host}:{port} from {source.vpc_id}"
            link = Link(title, functools.partial(find_target, port))
            if by_endpoint:
                link.idle_seconds = _IDLE_SECONDS
            self._relays.open(name.address, port, link)
            name.links[port] = link

    def _follow(self) -> None:
        while not self._stopping.is_set():
            self._changed.wait(_REFRESH_SECONDS)
            self._stopping.wait(_PAUSE_SECONDS)
            self._changed.clear()
            try:
                self.refresh()
            except Exception:  # any error: the next refresh may succeed
                _log.exception("the network cannot follow what was created")
