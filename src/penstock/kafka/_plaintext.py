"""Connections without encryption and without login."""

from __future__ import annotations

from typing import Any

from penstock.kafka.settings import KafkaSettings


class PlaintextMechanism:
    """Connect without encryption; only for brokers on the same machine or network."""

    def __init__(self, settings: KafkaSettings) -> None:
        pass  # it needs only the brokers' addresses

    def client_options(self) -> dict[str, Any]:
        """Return kafka-python's options."""
        return {"security_protocol": "PLAINTEXT"}

    def java_options(self) -> dict[str, str]:
        """Return the properties of a Java client."""
        return {"security.protocol": "PLAINTEXT"}
