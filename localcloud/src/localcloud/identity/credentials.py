"""The temporary keys of role sessions, their owners and expiry times."""

from __future__ import annotations

import secrets
import string
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
from botocore.config import Config
from moto.iam.models import iam_backends

from localcloud.cloud import Cloud
from localcloud.identity.roles import assumed_role_arn, role_account
from localcloud.identity.tokens import KnownKey

_KEY_LETTERS = string.ascii_uppercase + "234567"
_MAX_KEPT = 10_000


@dataclass(frozen=True, slots=True)
class SessionKey:
    """Temporary credentials; `role_arn` is None for those of GetSessionToken."""

    account: str
    access_key: str
    secret_key: str = field(repr=False)
    session_token: str = field(repr=False)
    expires_at: datetime
    role_arn: str | None = None
    session_name: str = ""
    policies: tuple[str, ...] = ()
    function_arn: str = ""  # whose code has them

    @property
    def variables(self) -> dict[str, str]:
        """The environment variables that pass the credentials to a process."""
        return {
            "AWS_ACCESS_KEY_ID": self.access_key,
            "AWS_SECRET_ACCESS_KEY": self.secret_key,
            "AWS_SESSION_TOKEN": self.session_token,
        }

    def open_client(
        self, service: str, region: str, endpoint: str, config: Config | None = None
    ) -> Any:
        """Open a client of a service with these credentials."""
        session: Any = boto3.Session(
            self.access_key, self.secret_key, self.session_token, region_name=region
        )
        return session.client(service, endpoint_url=endpoint, config=config)

    @property
    def arn(self) -> str:
        """The principal that GetCallerIdentity returns."""
        if self.role_arn is None:
            return f"arn:aws:iam::{self.account}:root"
        return assumed_role_arn(self.role_arn, self.session_name)

    @property
    def expired(self) -> bool:
        """Return whether the session has expired."""
        return datetime.now(UTC) >= self.expires_at


class SessionKeys:
    """Every temporary key that was issued."""

    def __init__(self) -> None:
        self._keys: dict[str, SessionKey] = {}

    def make(
        self,
        account: str,
        seconds: float,
        *,
        role_arn: str | None = None,
        session_name: str = "",
        policies: tuple[str, ...] = (),
    ) -> SessionKey:
        """Create a key and store it; beyond 10,000 keys the first to expire are dropped."""
        key = SessionKey(
            account=account,
            access_key="ASIA" + "".join(secrets.choice(_KEY_LETTERS) for _ in range(16)),
            secret_key=secrets.token_urlsafe(30),
            session_token=secrets.token_urlsafe(96),
            expires_at=datetime.now(UTC) + timedelta(seconds=seconds),
            role_arn=role_arn,
            session_name=session_name,
            policies=policies,
        )
        self._keys[key.access_key] = key
        while len(self._keys) > _MAX_KEPT:
            first = min(list(self._keys.values()), key=lambda one: one.expires_at)
            self._keys.pop(first.access_key, None)
        return key

    def hand_to(self, key: SessionKey, function_arn: str) -> SessionKey:
        """Mark a key as the one that a function's code has."""
        self._keys[key.access_key] = replace(key, function_arn=function_arn)
        return self._keys[key.access_key]

    def find(self, access_key: str) -> SessionKey | None:
        """Return a key by its id, None if it is unknown."""
        return self._keys.get(access_key)


def credentials_for_role(
    cloud: Cloud, role_arn: str, session_name: str, seconds: float = 3600
) -> SessionKey:
    """Create the credentials that a service passes to a process under a role."""
    keys = cloud.state(SessionKeys)
    return keys.make(role_account(role_arn), seconds, role_arn=role_arn, session_name=session_name)


def find_key(cloud: Cloud, access_key: str) -> KnownKey | None:
    """Return the owner and the secret of a key, to check a signature.

    A key of 12 digits has no secret to check, so it is not found.
    """
    session = cloud.state(SessionKeys).find(access_key)
    if session is not None:
        return KnownKey(session.arn, session.secret_key, session.session_token, session.expires_at)
    for partitions in list(iam_backends.values()):
        key = partitions["aws"].access_keys.get(access_key)
        if key is not None and key.user_name:
            arn = partitions["aws"].get_user(key.user_name).arn
            return KnownKey(str(arn), str(key.secret_access_key))
    return None
