"""A session of a process whose environment variables alone decide its credentials and endpoints.

A Lambda function is such a process. botocore, which takes as long to import as all of Kafka's
client, is imported when a client of botocore is built.
"""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from botocore.session import Session

_REGION = ("AWS_REGION", "AWS_DEFAULT_REGION")
_KEYS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
# With one of these, botocore's answers depend on more than the variables below.
_DECIDES_MORE = (
    "AWS_CREDENTIAL_EXPIRATION",
    "AWS_DEFAULT_PROFILE",
    "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS",
    "AWS_PROFILE",
    "AWS_SECURITY_TOKEN",
    "AWS_USE_DUALSTACK_ENDPOINT",
    "AWS_USE_FIPS_ENDPOINT",
)
_FILES = {
    "AWS_CONFIG_FILE": "~/.aws/config",
    "AWS_SHARED_CREDENTIALS_FILE": "~/.aws/credentials",
}


class Keys(NamedTuple):
    """An access key, in the form of botocore's frozen credentials; it does not expire."""

    access_key: str
    secret_key: str
    token: str | None

    def __repr__(self) -> str:
        return f"Keys(access_key={self.access_key!r})"

    def get_frozen_credentials(self) -> Keys:
        """Return itself, as botocore's credentials do."""
        return self


def decides_alone() -> bool:
    """Return whether the environment has keys, and nothing else has a say."""
    environ = os.environ
    return (
        all(environ.get(name) for name in _KEYS)
        and not any(name in environ for name in _DECIDES_MORE)
        and not any(
            Path(environ.get(name, usual)).expanduser().exists() for name, usual in _FILES.items()
        )
    )


class EnvironmentSession:
    """A session that answers as botocore's does, from the environment's variables.

    What it does not know, it asks a session of botocore.
    """

    def __init__(self, region: str | None) -> None:
        self._region = region
        access_key, secret_key = (os.environ[name] for name in _KEYS)
        self._keys = Keys(access_key, secret_key, os.environ.get("AWS_SESSION_TOKEN"))
        self._known = {
            "ca_bundle": os.environ.get("AWS_CA_BUNDLE"),
            "ignore_configured_endpoint_urls": None,
            "region": region or next(filter(None, map(os.environ.get, _REGION)), None),
            "use_dualstack_endpoint": None,
            "use_fips_endpoint": None,
        }
        self.full_config: dict[str, dict[str, Any]] = {"profiles": {}}

    def get_credentials(self) -> Keys:
        """Return the keys of the environment."""
        return self._keys

    def get_config_variable(self, name: str) -> Any:
        """Return the value of a variable of botocore's configuration."""
        return (
            self._known[name]
            if name in self._known
            else self._of_botocore.get_config_variable(name)
        )

    @cached_property
    def _of_botocore(self) -> Session:
        from penstock.credentials._botocore_session import new_session  # noqa: PLC0415

        return new_session(self._region)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._of_botocore, name)
