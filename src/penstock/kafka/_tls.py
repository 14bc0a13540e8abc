"""Encryption and the broker's certificate, without a login of ours."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Any

from penstock.kafka.settings import KafkaSettings


class TlsMechanism:
    """Connect by TLS; the broker shows a certificate, the client none."""

    def __init__(self, settings: KafkaSettings) -> None:
        """Keep which authorities to trust."""
        self._ca_file = settings.ca_file

    def client_options(self) -> dict[str, Any]:
        """Return kafka-python's options."""
        return {"security_protocol": "SSL", "ssl_context": build_context(self._ca_file)}

    def java_options(self) -> dict[str, str]:
        """Return the properties of a Java client."""
        return {"security.protocol": "SSL", **trust_options(self._ca_file)}


def build_context(ca_file: str) -> ssl.SSLContext:
    """Trust the authorities of the file, or the system's, and check the broker's name.

    Built once for a client: left to itself kafka-python reads the authorities at each connection.
    """
    return ssl.create_default_context(cafile=ca_file or None)


def trust_options(ca_file: str) -> dict[str, str]:
    """Give a Java client the authorities themselves: the file may be on one machine of several."""
    if not ca_file:
        return {}
    certificates = Path(ca_file).read_text(encoding="ascii")
    return {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": certificates}
