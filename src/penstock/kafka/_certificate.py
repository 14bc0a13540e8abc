"""The login by a client certificate, which Secrets Manager keeps with its private key.

The secret has `certificate`, `privateKey` and maybe `privateKeyPassword`, as Lambda's event source
mappings expect. The certificate stands before those of its authorities, and the key is PKCS #8,
since Java clients read no other.
"""

from __future__ import annotations

import os
import ssl
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Self

from penstock.errors import BrokerLoginError, BrokerUnavailableError
from penstock.kafka._mechanism import trust_options
from penstock.kafka._secret import read_secret
from penstock.kafka.settings import KafkaSettings

_FIELDS = ("certificate", "privateKey")
_PASSWORD = "privateKeyPassword"  # noqa: S105 - a name
_PKCS8 = ("-----BEGIN PRIVATE KEY-----", "-----BEGIN ENCRYPTED PRIVATE KEY-----")
_FRESH_SECONDS = 60.0


class CertificateMechanism:
    """Log in with the secret's current certificate, so that a renewal is followed."""

    def __init__(self, settings: KafkaSettings) -> None:
        self._settings = settings

    def client_options(self) -> dict[str, Any]:
        """Return kafka-python's options, after reading the secret once to check it.

        Raises:
            BrokerLoginError: the secret cannot be read, or is not as expected.
            BrokerUnavailableError: Secrets Manager throttles or does not answer (retriable).
        """
        context = _CertificateContext.open(self._settings)
        return {"security_protocol": "SSL", "ssl_context": context}

    def java_options(self) -> dict[str, str]:
        """Return the properties of a Java client, with the private key in clear text."""
        secret = _read_certificate(self._settings)
        password = {"ssl.key.password": secret[_PASSWORD]} if _PASSWORD in secret else {}
        return {
            "security.protocol": "SSL",
            **trust_options(self._settings.ca_file),
            "ssl.keystore.type": "PEM",
            "ssl.keystore.certificate.chain": secret["certificate"],
            "ssl.keystore.key": secret["privateKey"],
            **password,
        }


def read_subject(settings: KafkaSettings) -> str:
    """Return the distinguished name in the secret's certificate, as brokers call its user.

    Raises:
        BrokerLoginError: the secret cannot be read, or is not as expected.
    """
    # Only `penstock access` asks, and a function's package does not have this library.
    from cryptography import x509  # noqa: PLC0415

    text = _read_certificate(settings)["certificate"]
    return x509.load_pem_x509_certificate(text.encode()).subject.rfc4514_string()


class _CertificateContext(ssl.SSLContext):
    """A TLS context whose connections use the current certificate of the secret."""

    _settings: KafkaSettings
    _read_at: float

    @classmethod
    def open(cls, settings: KafkaSettings) -> Self:
        """Return a context that trusts the CA bundle, or the system's, and checks host names."""
        context = cls(ssl.PROTOCOL_TLS_CLIENT)
        if settings.ca_file:
            context.load_verify_locations(settings.ca_file)
        else:
            context.load_default_certs()
        context._settings = settings
        context._renew()
        return context

    def wrap_socket(self, *args: Any, **options: Any) -> ssl.SSLSocket:
        """Begin a connection, with the secret read again unless that was a moment ago."""
        if time.monotonic() - self._read_at > _FRESH_SECONDS:
            with suppress(BrokerUnavailableError):  # the certificate may still be valid
                self._renew()
        return super().wrap_socket(*args, **options)

    def _renew(self) -> None:
        secret = _read_certificate(self._settings)
        with _written(secret) as path:
            try:
                # Without a password OpenSSL would ask for one at the terminal.
                self.load_cert_chain(path, password=secret.get(_PASSWORD, ""))
            except (ssl.SSLError, ValueError):
                raise BrokerLoginError(
                    f"the secret {self._settings.secret_arn} is not as expected: a certificate, "
                    "and the private key that belongs to it"
                ) from None
        self._read_at = time.monotonic()


def _read_certificate(settings: KafkaSettings) -> dict[str, str]:
    secret = read_secret(settings, _FIELDS)
    if not secret["privateKey"].lstrip().startswith(_PKCS8):
        raise BrokerLoginError(
            f"the secret {settings.secret_arn} is not as expected: a privateKey in PKCS #8, which "
            f"begins with {_PKCS8[0]}"
        )
    return secret


@contextmanager
def _written(secret: Mapping[str, str]) -> Iterator[str]:
    """Yield a file with certificate and key, since Python reads them from files only.

    It is in memory where the system can do that, as a container's file system may be read-only.
    """
    text = "\n".join(secret[field] for field in _FIELDS).encode()
    if not hasattr(os, "memfd_create"):
        with tempfile.NamedTemporaryFile() as file:  # readable by its owner only
            file.write(text)
            file.flush()
            yield file.name
        return
    with os.fdopen(os.memfd_create("certificate"), "wb", buffering=0) as memory:
        memory.write(text)
        yield f"/proc/self/fd/{memory.fileno()}"
