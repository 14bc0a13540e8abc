"""The brokers that a cluster needs, as an interface."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from kafka import KafkaAdminClient, KafkaConsumer


@dataclass(frozen=True, slots=True)
class BrokerProcess:
    """A process of a cluster as `status` shows it."""

    node_id: int
    pid: int
    memory_mb: int


class RunningBrokers(Protocol):
    """The brokers of one cluster; broker N is the N-th of its nodes."""

    @property
    def ca_file(self) -> Path:
        """The certificate of the authority that clients must trust."""

    @property
    def processes(self) -> list[BrokerProcess]:
        """The running processes, including the controller."""

    def address(self, broker_id: int) -> str:
        """Return the loopback address that a broker listens on."""

    def add_brokers(self, zones: Mapping[int, str]) -> None:
        """Start more brokers, by id, in these availability zones, and wait until they answer."""

    def set_users(self, users: Mapping[str, str]) -> None:
        """Create SCRAM users or change their passwords; open connections stay open."""

    def apply(self, properties: Mapping[str, str]) -> None:
        """Apply server properties to the brokers; restart them only if necessary."""

    def open_listeners(self, settings: dict[str, Any]) -> None:
        """Restart the brokers with the listeners of a cluster with these settings."""

    def open_exporters(self, exporters: frozenset[str]) -> None:
        """Restart the brokers with these exporters of open monitoring."""

    def open_admin(self) -> KafkaAdminClient:
        """Open an admin client with all permissions; the caller closes it."""

    def scrape(self, broker_id: int) -> str:
        """Return what the JMX exporter of a broker shows; raise OSError if it does not answer."""

    def open_consumer(self) -> KafkaConsumer:
        """Open a consumer of no group that may read every topic; the caller closes it."""

    def kill(self, broker_id: int) -> None:
        """Kill a broker with SIGKILL."""

    def pause(self, broker_id: int) -> None:
        """Stop a broker with SIGSTOP: its connections stay open without answers."""

    def resume(self, broker_id: int) -> None:
        """Continue a paused broker."""

    def restart(self, broker_id: int) -> None:
        """Start a broker, after stopping it if it runs, and wait until it answers."""

    def stop(self) -> None:
        """Stop every process and delete its files."""
