"""The SCRAM-SHA-512 login with user name and password from Secrets Manager."""

from __future__ import annotations

import time
from typing import Any

from penstock.kafka._mechanism import build_context, trust_options, write_login
from penstock.kafka._secret import read_secret
from penstock.kafka.settings import KafkaSettings

_FIELDS = ("username", "password")
_ONE_LOGIN_SECONDS = 1.0


class ScramMechanism:
    """Log in with the secret's current user name and password, so that a rotation is followed."""

    def __init__(self, settings: KafkaSettings) -> None:
        self._settings = settings

    def client_options(self) -> dict[str, Any]:
        """Return kafka-python's options, after reading the secret once to check it.

        Raises:
            BrokerLoginError: the secret cannot be read, or is not as expected.
            BrokerUnavailableError: Secrets Manager throttles or does not answer (retriable).
        """
        secret = _Secret(self._settings)
        secret.read("username")
        return {
            "security_protocol": "SASL_SSL",
            "ssl_context": build_context(self._settings.ca_file),
            "sasl_mechanism": "SCRAM-SHA-512",
            "sasl_plain_username": _SecretText(secret, "username"),
            "sasl_plain_password": _SecretText(secret, "password"),
        }

    def java_options(self) -> dict[str, str]:
        """Return the properties of a Java client, with the current password in clear text."""
        secret = _Secret(self._settings)
        login = write_login(
            "org.apache.kafka.common.security.scram.ScramLoginModule",
            username=secret.read("username"),
            password=secret.read("password"),
        )
        return {
            "security.protocol": "SASL_SSL",
            **trust_options(self._settings.ca_file),
            "sasl.mechanism": "SCRAM-SHA-512",
            "sasl.jaas.config": login,
        }


def read_username(settings: KafkaSettings) -> str:
    """Return the secret's user name.

    Raises:
        BrokerLoginError: the secret cannot be read, or is not as expected.
    """
    return _Secret(settings).read("username")


class _Secret:
    """The secret's user name and password, read again for each login."""

    def __init__(self, settings: KafkaSettings) -> None:
        self._settings = settings
        self._values: dict[str, str] = {}
        self._read_at = float("-inf")

    def read(self, field: str) -> str:
        # A login asks for the user name, then for the password: both must come from one reading.
        if time.monotonic() - self._read_at > _ONE_LOGIN_SECONDS:
            self._values = read_secret(self._settings, _FIELDS)
            self._read_at = time.monotonic()
        return self._values[field]


class _SecretText:
    """A stand-in for a user name or password, which kafka-python only encodes at a login.

    kafka-python prints its options in its debug log; `repr` keeps the secret out of it.
    """

    def __init__(self, secret: _Secret, field: str) -> None:
        self._secret = secret
        self._field = field

    def encode(self, encoding: str = "utf-8") -> bytes:
        return self._secret.read(self._field).encode(encoding)

    def __repr__(self) -> str:
        return f"<{self._field} of the secret>"
