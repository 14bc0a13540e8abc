"""Sessions at AWS with keys that are given."""

from __future__ import annotations

from botocore.session import Session

REGION = "eu-central-1"


def make_session(
    access_key: str,
    secret_key: str = "any",  # noqa: S107 # made up, as all of them
    token: str | None = None,
    region: str = REGION,
) -> Session:
    """Make a session as `load_session` returns it; localcloud takes an account for a key."""
    session = Session()
    session.set_credentials(access_key, secret_key, token)
    session.set_config_variable("region", region)
    return session
