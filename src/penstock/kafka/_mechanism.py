"""Mechanisms: the ways to connect to a broker and to log in, and the parts that they share."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Any, Protocol

from penstock.aws import trusted_context
from penstock.kafka.settings import KafkaSettings


class Mechanism(Protocol):
    """A way to connect to a broker."""

    def client_options(self) -> dict[str, Any]:
        """Return kafka-python's options, the same for producer, consumer and admin client."""

    def java_options(self) -> dict[str, str]:
        """Return a Java client's properties, which may contain a password."""


class PlaintextMechanism:
    """Connect without encryption; only for brokers on the same machine or network."""

    def client_options(self) -> dict[str, Any]:
        """Return kafka-python's options."""
        return {"security_protocol": "PLAINTEXT"}

    def java_options(self) -> dict[str, str]:
        """Return the properties of a Java client."""
        return {"security.protocol": "PLAINTEXT"}


class TlsMechanism:
    """Connect with TLS; the broker has a certificate, the client has none."""

    def __init__(self, settings: KafkaSettings) -> None:
        self._ca_file = settings.ca_file

    def client_options(self) -> dict[str, Any]:
        """Return kafka-python's options."""
        return {"security_protocol": "SSL", "ssl_context": build_context(self._ca_file)}

    def java_options(self) -> dict[str, str]:
        """Return the properties of a Java client."""
        return {"security.protocol": "SSL", **trust_options(self._ca_file)}


def build_context(ca_file: str) -> ssl.SSLContext:
    """Return a TLS context that trusts the CA bundle, or the system's, and checks host names.

    All clients share it; by default kafka-python reads the CA bundle at each connection.
    """
    return trusted_context(ca_file or None)


def trust_options(ca_file: str) -> dict[str, str]:
    """Return a Java client's properties with the text of the CA bundle.

    The text, not the path, because the file may exist on one machine of several only.
    """
    if not ca_file:
        return {}
    certificates = Path(ca_file).read_text(encoding="ascii")
    return {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": certificates}


def write_login(module: str, **options: str) -> str:
    """Return one login of a JAAS configuration; a value may contain any character."""
    given = "".join(f" {name}={_quote(value)}" for name, value in options.items())
    return f"{module} required{given};"


def _quote(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
