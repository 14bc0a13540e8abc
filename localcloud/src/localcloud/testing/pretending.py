"""MSK clusters without brokers: the control plane answers, and no JVM runs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from kafka.errors import KafkaConnectionError

from localcloud.cloud import Cloud
from localcloud.services.kafka.brokers import BrokerProcess
from localcloud.services.kafka.listeners import all_listeners
from localcloud.services.kafka.model import Cluster
from localcloud.services.kafka.processes import Launcher


class PretendedBrokers:
    """Keeps what it is told; `fails` is what the next change raises."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.ca_file = Path("ca.pem")
        self.users: dict[str, str] = {}
        self.properties = dict(cluster.properties)
        self.listeners: Any = None
        self.done: list[Any] = []
        self.fails: Exception | None = None
        self.processes = [BrokerProcess(100, 1, 2)]

    def address(self, broker_id: int) -> str:
        """Return a made-up address."""
        return f"127.99.99.{broker_id}"

    def add_brokers(self, zones: Mapping[int, str]) -> None:
        """Keep the zones of further brokers."""
        self._do(("add", dict(zones)))

    def set_users(self, users: Mapping[str, str]) -> None:
        """Keep users with their passwords."""
        self.users.update(users)

    def apply(self, properties: Mapping[str, str]) -> None:
        """Keep the properties."""
        self._do("apply")
        self.properties = dict(properties)

    def open_listeners(self, settings: Any) -> None:
        """Keep the listeners."""
        self._do("open")
        self.listeners = all_listeners(settings)

    def open_exporters(self, exporters: Collection[str]) -> None:
        """Keep the exporters."""
        self._do(("exporters", set(exporters)))

    def kill(self, broker_id: int) -> None:
        """Keep whom to kill."""
        self._do(("kill", broker_id))

    def pause(self, broker_id: int) -> None:
        """Keep whom to pause."""
        self._do(("pause", broker_id))

    def resume(self, broker_id: int) -> None:
        """Keep whom to resume."""
        self._do(("resume", broker_id))

    def restart(self, broker_id: int) -> None:
        """Keep whom to start again."""
        self._do(("restart", broker_id))

    def scrape(self, broker_id: int) -> str:
        """Refuse as an exporter that does not run."""
        raise ConnectionRefusedError(f"broker {broker_id} is pretended")

    def open_admin(self) -> Any:
        """Refuse as brokers that do not run."""
        raise KafkaConnectionError

    def stop(self) -> None:
        """Keep that they end."""
        self._do("stop")

    def _do(self, what: Any) -> None:
        self.done.append(what)
        failure, self.fails = self.fails, None
        if failure is not None:
            raise failure


@contextmanager
def pretend_brokers(cloud: Cloud) -> Iterator[dict[str, PretendedBrokers]]:
    """Let clusters have pretended brokers; a dictionary of them by the clusters' names."""
    known: dict[str, PretendedBrokers] = {}

    def launch(_: Cloud, cluster: Cluster) -> PretendedBrokers:
        known[cluster.name] = PretendedBrokers(cluster)
        return known[cluster.name]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cloud.state(Launcher), "launch", launch)
        yield known
