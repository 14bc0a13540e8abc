"""The credentials for a registry that is reached over HTTP, from a secret or a file.

Its content is a JSON object with any of these fields, as text; null and empty ones are ignored:

| field                                                   | use                               |
| ------------------------------------------------------- | --------------------------------- |
| `username`, `password`                                  | basic authentication              |
| `token`                                                 | bearer token                      |
| `certificate`, `private_key`, `private_key_password`    | client certificate (mTLS), as PEM |
| `ca`                                                    | certificate authorities, as PEM   |
"""

from __future__ import annotations

import json
import re
import ssl
import tempfile
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NoReturn

from penstock.errors import (
    RegistryAccessDeniedError,
    RegistryError,
    RegistryUnavailableError,
    SettingsError,
)
from penstock.registry.http_settings import HttpRegistrySettings

_SECRET_ARN = re.compile(r"arn:[a-z-]+:secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:.+")
_FIELDS: Final = (
    "username", "password", "token", "certificate", "private_key", "private_key_password", "ca",
)  # fmt: skip


def read_secret(where: str) -> dict[str, str]:
    """Return the fields of a secret, by its ARN or the path of a file.

    Raises:
        RegistryAccessDeniedError: it cannot be read, or is not as expected.
        RegistryUnavailableError: Secrets Manager throttles or does not answer.
    """
    text = _fetch(where) if _SECRET_ARN.fullmatch(where) else _read_file(where)
    try:
        content = dict(json.loads(text))
        fields = {name: content[name].strip() for name in _FIELDS if content.get(name) is not None}
    except (ValueError, TypeError, AttributeError, RecursionError):
        # Without the cause, which would put the secret's text into logs.
        raise RegistryAccessDeniedError(
            f"the secret {where} is not as expected: a JSON object with text in some of the "
            f"fields {', '.join(_FIELDS)}"
        ) from None
    token = fields.get("token", "")
    if not (token.isascii() and token.isprintable()):
        raise RegistryAccessDeniedError(
            f"the token in the secret {where} has characters that an HTTP header cannot have, "
            "expected printable ASCII characters"
        )
    return {name: value for name, value in fields.items() if value}


def authorization_header(user: str, secret: Mapping[str, str]) -> dict[str, str]:
    """Return the header for a bearer token or basic authentication, if the secret has one."""
    if "token" in secret:
        return {"Authorization": f"Bearer {secret['token']}"}
    name = user or secret.get("username", "")
    if not name:
        return {}
    pair = f"{name}:{secret.get('password', '')}".encode()
    return {"Authorization": f"Basic {b64encode(pair).decode()}"}


def build_context(settings: HttpRegistrySettings, secret: Mapping[str, str]) -> ssl.SSLContext:
    """Return the TLS context with the authorities and the client certificate.

    Raises:
        SettingsError: the authorities or the certificate cannot be used.
    """
    try:
        context = ssl.create_default_context(
            cafile=settings.ca_file or None, cadata=secret.get("ca")
        )
        if "certificate" in secret:
            # Python reads a client certificate only from a file; this one is the process's own.
            with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
                file.write(f"{secret['certificate']}\n{secret.get('private_key', '')}\n")
                file.flush()
                context.load_cert_chain(file.name, password=_key_password(secret))
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        raise SettingsError(
            [f"the certificates for {settings.source} cannot be used: {error}"]
        ) from None
    return context


def _key_password(secret: Mapping[str, str]) -> Any:
    """Return the key's password; without one, OpenSSL must not ask at the terminal."""

    def refuse() -> NoReturn:
        raise ValueError("the private key has a password, expected the field private_key_password")

    return secret.get("private_key_password") or refuse


def _read_file(path: str) -> str:
    try:
        return Path(path).read_text()
    except (OSError, ValueError) as error:
        raise RegistryAccessDeniedError(f"the secret {path} cannot be read: {error}") from None


def _fetch(arn: str) -> str:
    # The import of botocore takes 0.1 s, which a program without such a secret does not need.
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415

    from penstock.aws import Fault, classify  # noqa: PLC0415
    from penstock.credentials import load_session  # noqa: PLC0415

    try:
        client: Any = load_session(region=arn.split(":")[3]).create_client("secretsmanager")
        return str(client.get_secret_value(SecretId=arn).get("SecretString", ""))
    except (ClientError, BotoCoreError) as error:
        down = classify(error) in {Fault.DOWN, Fault.THROTTLED}
        kind: type[RegistryError] = RegistryUnavailableError if down else RegistryAccessDeniedError
        raise kind(f"the secret {arn} cannot be read: {error}") from error
