"""What a cluster needs of its brokers, and who starts them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


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
        """The processes that run, controller included."""

    def address(self, broker_id: int) -> str:
        """The loopback address that a broker listens on."""

    def add_brokers(self, zones: Mapping[int, str]) -> None:
        """Start more brokers, by id, in those availability zones, and wait until they answer."""

    def set_users(self, users: Mapping[str, str]) -> None:
        """Create SCRAM users or change their passwords; open connections go on."""

    def apply(self, properties: Mapping[str, str]) -> None:
        """Let the brokers have these server properties, restarting them only where they must."""

    def open_listeners(self, listeners: frozenset[str]) -> None:
        """Restart the brokers with these listeners."""

    def kill(self, broker_id: int) -> None:
        """Kill a broker with SIGKILL."""

    def pause(self, broker_id: int) -> None:
        """Stop a broker with SIGSTOP: its connections stay open and nobody answers."""

    def resume(self, broker_id: int) -> None:
        """Let a paused broker go on."""

    def restart(self, broker_id: int) -> None:
        """Start a broker again, which is ended first if it runs, and wait until it answers."""

    def stop(self) -> None:
        """End every process and remove what it wrote."""
