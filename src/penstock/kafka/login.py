"""The options of a client of Kafka, in Python or Java: brokers, client id and login."""

from __future__ import annotations

import logging
from typing import Any

from penstock.kafka._mechanism import Mechanism, PlaintextMechanism, TlsMechanism
from penstock.kafka.settings import KafkaSettings, Security

_CLIENT_ID = "penstock"
_ANONYMOUS = "ANONYMOUS"  # whoever connects without a login
# Load balancers and PrivateLink forget a connection after 350 s and reset what comes later.
_IDLE_MS = 300_000
# The longest wait before a client connects again to a broker that refused. kafka-python's 30 s is
# longer than the deadline of a send.
_RECONNECT_MS = 250
# kafka-python connects only to brokers of its last metadata: one that came back must be among them
# before the next one restarts.
_METADATA_MS = 10_000

# At DEBUG these loggers print what is sent and received: tokens, and the secret with the password.
for _name in ("kafka.net.connection", "kafka.protocol.parser", "botocore.parsers"):
    logging.getLogger(_name).setLevel(logging.INFO)


def client_options(settings: KafkaSettings) -> dict[str, Any]:
    """Return kafka-python's options: the brokers, the client id and the login."""
    return {
        "bootstrap_servers": list(settings.bootstrap_servers),
        "client_id": _CLIENT_ID,
        "connections_max_idle_ms": _IDLE_MS,
        "metadata_max_age_ms": _METADATA_MS,
        "reconnect_backoff_max_ms": _RECONNECT_MS,
        **_choose_mechanism(settings).client_options(),
    }


def import_login(settings: KafkaSettings) -> None:
    """Import what the login needs, which a snapshot of a function then holds."""
    _choose_mechanism(settings)


def java_options(settings: KafkaSettings) -> dict[str, str]:
    """Return a Java client's properties: brokers, client id and login, maybe with a secret.

    Raises:
        BrokerLoginError: the secret cannot be read, or is not as expected.
    """
    return {
        "bootstrap.servers": ",".join(settings.bootstrap_servers),
        "client.id": _CLIENT_ID,
        "connections.max.idle.ms": str(_IDLE_MS),
        **_choose_mechanism(settings).java_options(),
    }


def find_user(settings: KafkaSettings) -> str | None:
    """Return the user whose access lists decide for this login; None for IAM, whose policies do.

    Raises:
        BrokerLoginError: the secret cannot be read, or is not as expected.
    """
    if settings.security is Security.IAM:
        return None
    if settings.security is Security.SCRAM:
        from penstock.kafka._scram import read_username  # noqa: PLC0415

        return read_username(settings)
    if settings.secret_arn:
        from penstock.kafka._certificate import read_subject  # noqa: PLC0415

        return read_subject(settings)
    return _ANONYMOUS


def _choose_mechanism(settings: KafkaSettings) -> Mechanism:
    """Return the mechanism for the settings' `security`."""
    # The modules that call AWS are imported only if used: their import takes a tenth of a second.
    if settings.security is Security.IAM:
        from penstock.kafka._iam import IamMechanism  # noqa: PLC0415

        return IamMechanism(settings)
    if settings.security is Security.SCRAM:
        from penstock.kafka._scram import ScramMechanism  # noqa: PLC0415

        return ScramMechanism(settings)
    if settings.security is Security.TLS and settings.secret_arn:
        from penstock.kafka._certificate import CertificateMechanism  # noqa: PLC0415

        return CertificateMechanism(settings)
    if settings.security is Security.TLS:
        return TlsMechanism(settings)
    return PlaintextMechanism()
