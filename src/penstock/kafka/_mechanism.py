"""The interface of all login mechanisms, and the choice of one by the settings."""

from __future__ import annotations

import logging
from typing import Any, Protocol

from penstock.kafka._plaintext import PlaintextMechanism
from penstock.kafka._tls import TlsMechanism
from penstock.kafka.settings import KafkaSettings, Security

CLIENT_ID = "penstock"

# At DEBUG these loggers print what is sent and received: tokens, and the secret with the password.
for _name in ("kafka.net.connection", "kafka.protocol.parser", "botocore.parsers"):
    logging.getLogger(_name).setLevel(logging.INFO)


class Mechanism(Protocol):
    """A way to connect to a broker."""

    def __init__(self, settings: KafkaSettings) -> None:
        pass

    def client_options(self) -> dict[str, Any]:
        """Return kafka-python's options, the same for producer, consumer and admin client."""

    def java_options(self) -> dict[str, str]:
        """Return a Java client's properties, which may contain a password."""


def client_options(settings: KafkaSettings) -> dict[str, Any]:
    """Return kafka-python's options: the brokers, the client id and the login."""
    return {
        "bootstrap_servers": list(settings.bootstrap_servers),
        "client_id": CLIENT_ID,
        **choose_mechanism(settings).client_options(),
    }


def choose_mechanism(settings: KafkaSettings) -> Mechanism:
    """Return the mechanism for the settings' `security`."""
    # The modules that call AWS are imported only if used: their import takes a tenth of a second.
    if settings.security is Security.IAM:
        from penstock.kafka._iam import IamMechanism  # noqa: PLC0415

        return IamMechanism(settings)
    if settings.security is Security.SCRAM:
        from penstock.kafka._scram import ScramMechanism  # noqa: PLC0415

        return ScramMechanism(settings)
    if settings.security is Security.TLS:
        return TlsMechanism(settings)
    return PlaintextMechanism(settings)
