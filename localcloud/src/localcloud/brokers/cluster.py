"""A Kafka cluster of real processes: one controller and N brokers, each its own JVM."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Self

from kafka import KafkaAdminClient, KafkaConsumer
from kafka.admin import ScramMechanism, UserScramCredentialUpsertion

from localcloud.brokers.addresses import check_free
from localcloud.brokers.certificates import load_authority, write_key_store
from localcloud.brokers.exporters import EXPORTER_PORTS, jmx_flag, start_node_exporter
from localcloud.brokers.jvm import Jvm, load_jvm
from localcloud.brokers.process import KafkaProcess
from localcloud.brokers.properties import (
    ADMIN_USER,
    CONTROLLER_ID,
    CONTROLLER_PORT,
    INTERNAL_PORT,
    ClusterSpec,
    broker_properties,
    controller_properties,
    write_properties,
)
from localcloud.children import Child
from localcloud.errors import BrokerStartError

_START_SECONDS = 120.0
_STOP_SECONDS = 10.0
_RECORD_SECONDS = 90.0  # Java writes the archive at exit: 4 s, on a busy machine 20 s


class BrokerCluster:
    """The processes of one cluster, their files in one directory, and the cluster's SCRAM users.

    `users` maps SCRAM names to passwords. The constructor starts nothing. Any broker may be killed;
    the controller must not be.
    """

    def __init__(
        self,
        directory: Path,
        spec: ClusterSpec,
        *,
        users: Mapping[str, str] | None = None,
        jvm: Jvm | None = None,
    ) -> None:
        self.spec = spec
        self._directory = directory
        self._users = dict(users or {})
        self._jvm = jvm or load_jvm()
        self._password = secrets.token_hex(16)
        self._processes: dict[int, KafkaProcess] = {}
        self._node_exporters: dict[int, Child | None] = {}
        directory.mkdir(parents=True, exist_ok=True)
        self._authority = load_authority(directory)

    def __enter__(self) -> Self:
        """Start the cluster and return it."""
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the cluster."""
        self.stop()

    @property
    def ca_file(self) -> Path:
        """The certificate of the authority that clients must trust."""
        return self._directory / "ca.pem"

    @property
    def broker_ids(self) -> list[int]:
        """The ids of all brokers, including killed ones."""
        return sorted(self._processes.keys() - {CONTROLLER_ID})

    @property
    def pids(self) -> dict[int, int]:
        """The process ids of the running brokers and controller."""
        return {node: process.pid for node, process in self._processes.items() if process.running}

    @property
    def names(self) -> dict[str, str]:
        """The brokers' names and the addresses that they must resolve to."""
        return {self.spec.name(node): self.spec.address(node) for node in self.broker_ids}

    def bootstrap_servers(self, listener: str) -> str:
        """Return the bootstrap string of a listener: PLAINTEXT, TLS, SCRAM or IAM."""
        return ",".join(f"{name}:{self.spec.ports[listener]}" for name in self.names)

    def start(self) -> None:
        """Start the controller and brokers, wait until all are ready, and set every user.

        Raises:
            AddressInUseError: an address is taken; nothing was started.
            BrokerStartError: one did not come up; the others were killed.
        """
        brokers = range(1, self.spec.broker_count + 1)
        for node in (*brokers, CONTROLLER_ID):
            self._check_addresses(node)
        try:
            self._launch_controller()
            for node in brokers:
                self._launch_broker(node)
            self._wait_ready(*self._processes)
            # Kafka 4.3.1 may lose users when it replays a deletion: set all at each start.
            self._upsert(self._users)
        except BaseException:
            self._kill_all()
            raise

    def stop(self) -> None:
        """Stop the brokers, then the controller, which they need for a controlled shutdown."""
        seconds = _RECORD_SECONDS if self._jvm.recording else _STOP_SECONDS
        for nodes in (self.broker_ids, [CONTROLLER_ID]):
            processes = [self._processes[node] for node in nodes if node in self._processes]
            for process in processes:
                process.ask_to_end()
            for process in processes:
                process.wait_end(seconds)
        self._processes.clear()
        self._end_node_exporters()

    def kill(self, broker_id: int) -> None:
        """Kill a broker with SIGKILL."""
        self._processes[broker_id].kill()

    def pause(self, broker_id: int) -> None:
        """Stop a broker with SIGSTOP: its connections stay open without answers."""
        self._processes[broker_id].pause()

    def resume(self, broker_id: int) -> None:
        """Continue a paused broker."""
        self._processes[broker_id].resume()

    def restart(self, broker_id: int) -> None:
        """Start a broker, maybe a new one, after stopping it if it runs; wait until it is ready."""
        self._end(broker_id)
        self._check_addresses(broker_id)
        self._launch_broker(broker_id)
        self._wait_ready(broker_id)

    def restart_all(self) -> None:
        """Restart the controller and the brokers one by one with the current `spec`."""
        if "NODE" not in self.spec.exporters:
            self._end_node_exporters()
        self._end(CONTROLLER_ID)
        self._launch_controller()
        self._wait_ready(CONTROLLER_ID)
        for broker_id in self.broker_ids:
            self.restart(broker_id)

    def set_user(self, name: str, password: str) -> None:
        """Create a SCRAM user or change its password; open connections stay open."""
        self._users[name] = password
        self._upsert({name: password})

    def open_admin(self) -> KafkaAdminClient:
        """Open an admin client with all permissions; the caller closes it."""
        return KafkaAdminClient(**self._internal_login())

    def open_consumer(self) -> KafkaConsumer:
        """Open a consumer of no group, with all permissions; the caller closes it."""
        return KafkaConsumer(**self._internal_login(), group_id=None)

    def _internal_login(self) -> dict[str, Any]:
        return {
            "bootstrap_servers": [
                f"{self.spec.address(node)}:{INTERNAL_PORT}"
                for node in self.broker_ids
                if self._processes[node].running
            ],
            "security_protocol": "SASL_PLAINTEXT",
            "sasl_mechanism": "PLAIN",
            "sasl_plain_username": ADMIN_USER,
            "sasl_plain_password": self._password,
        }

    def _upsert(self, users: Mapping[str, str]) -> None:
        if not users:
            return
        changes = [
            UserScramCredentialUpsertion(name, ScramMechanism.SCRAM_SHA_512, password)
            for name, password in users.items()
        ]
        with closing(self.open_admin()) as admin:
            refused = {k: v for k, v in admin.alter_user_scram_credentials(changes).items() if v}
        if refused:
            raise BrokerStartError(f"the controller refuses SCRAM users: {refused}")

    def _end(self, node: int) -> None:
        if (process := self._processes.get(node)) is not None:
            process.ask_to_end()
            process.wait_end(_STOP_SECONDS)

    def _check_addresses(self, node: int) -> None:
        exporters = [EXPORTER_PORTS[name] for name in self.spec.exporters]
        if node in self._node_exporters:  # it outlives its broker, as a machine does
            exporters.remove(EXPORTER_PORTS["NODE"])
        ports = [*self.spec.ports.values(), *exporters]
        for port in [CONTROLLER_PORT] if node == CONTROLLER_ID else ports:
            check_free(self.spec.address(node), port)

    def _launch_broker(self, node: int) -> None:
        home = self._home(node)
        key_store = home / "keystore.pem"
        write_key_store(self._authority, self.spec.names(node), key_store)
        meta = home / "data" / "meta.properties"
        if not meta.exists():
            # Write what StorageTool writes for a broker, without a JVM; Kafka adds the rest.
            meta.write_text(f"version=1\nnode.id={node}\ncluster.id={self._cluster_id()}\n")
        properties = broker_properties(self.spec, self._password, meta.parent, node, key_store)
        address, exporters = self.spec.address(node), self.spec.exporters
        agent = jmx_flag(home, address) if "JMX" in exporters else None
        self._launch(node, properties, agent=agent)
        if "NODE" in exporters and node not in self._node_exporters:
            self._node_exporters[node] = start_node_exporter(home, address)

    def _launch_controller(self) -> None:
        data = self._home(CONTROLLER_ID) / "data"
        properties = controller_properties(self.spec, self._password, data)
        self._launch(CONTROLLER_ID, properties, format_as=self._cluster_id())

    def _launch(
        self,
        node: int,
        properties: Mapping[str, str],
        format_as: str | None = None,
        agent: str | None = None,
    ) -> None:
        home = self._home(node)
        path = write_properties(home, properties)
        command = self._jvm.command(path, self.spec.token_url, format_as, agent)
        name = "the controller" if node == CONTROLLER_ID else f"broker {node}"
        self._processes[node] = KafkaProcess(name, command, home / "server.log")

    def _wait_ready(self, *nodes: int) -> None:
        deadline = time.monotonic() + _START_SECONDS
        for node in nodes:
            self._processes[node].wait_ready(deadline)

    def _kill_all(self) -> None:
        for process in self._processes.values():
            process.kill()
        self._processes.clear()
        self._end_node_exporters()

    def _end_node_exporters(self) -> None:
        for child in filter(None, self._node_exporters.values()):
            child.kill()
            child.wait(None)
        self._node_exporters.clear()

    def _home(self, node: int) -> Path:
        home = self._directory / ("controller" if node == CONTROLLER_ID else f"broker-{node}")
        (home / "data").mkdir(parents=True, exist_ok=True)
        return home

    def _cluster_id(self) -> str:
        kept = self._directory / "cluster-id"
        if not kept.exists():
            # 16 bytes as Kafka writes them; StorageTool would read a leading dash as an option.
            kept.write_text(secrets.token_urlsafe(16).replace("-", "A"))
        return kept.read_text()
