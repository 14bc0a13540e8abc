"""AWS sessions with the process's credentials or an assumed role's, renewed before they expire.

The sessions are botocore's. boto3 takes 0.05 s more to import and adds nothing that we use.
"""

from __future__ import annotations

import threading
from functools import cache
from typing import TYPE_CHECKING, Any

from botocore.config import Config
from botocore.credentials import (
    CredentialProvider,
    CredentialResolver,
    DeferredRefreshableCredentials,
)
from botocore.session import Session

if TYPE_CHECKING:
    from mypy_boto3_sts.type_defs import AssumeRoleRequestTypeDef

# Brokers drop a connection whose principal changes when it authenticates again. The session name
# is part of the principal, so it is the same for every role, process and renewal.
ROLE_SESSION_NAME = "penstock"

_STS_CONFIG = Config(
    connect_timeout=5,
    read_timeout=10,
    retries={"mode": "standard", "total_max_attempts": 3},
)

# botocore reads only the second one; the other AWS SDKs and the AWS CLI read the first.
_VARIABLES = {"region": ("region", ["AWS_REGION", "AWS_DEFAULT_REGION"], None, None)}

_building = threading.Lock()


def load_session(
    *, region: str | None = None, role_arn: str | None = None, external_id: str | None = None
) -> Session:
    """Return the session for these arguments, always the same one, so that its renewal is shared.

    With a role, STS is not called before the first use. After that, botocore renews the
    credentials when less than 15 minutes are left, and makes callers wait for it below 10. Threads
    may share the session's credentials, but only one thread at a time may build clients from it.

    Args:
        region: the region of STS and of the session's clients; by default the environment's.
        role_arn: the role to assume; without it the session has the process's own credentials.
        external_id: the external id that the role's trust policy requires.
    """
    # Without the lock, two threads that miss the cache at the same time would get two providers.
    with _building:
        return _build_session(region, role_arn, external_id)


@cache
def _build_session(region: str | None, role_arn: str | None, external_id: str | None) -> Session:
    session = _new_session(region)
    if role_arn is not None:
        session.register_component(
            "credential_provider",
            CredentialResolver([_AssumedRole(region, role_arn, external_id)]),
        )
    return session


def _new_session(region: str | None) -> Session:
    session = Session(session_vars=_VARIABLES)
    if region is not None:
        session.set_config_variable("region", region)
    return session


class _AssumedRole(CredentialProvider):
    """The only provider in a session's credential chain: a role, without a fallback."""

    METHOD = "assume-role"

    def __init__(self, region: str | None, role_arn: str, external_id: str | None) -> None:
        super().__init__()
        self._request: AssumeRoleRequestTypeDef = {
            "RoleArn": role_arn,
            "RoleSessionName": ROLE_SESSION_NAME,
        }
        if external_id:
            self._request["ExternalId"] = external_id
        self._source = _new_session(region)
        # The global endpoint is in one region and cannot be reached through a VPC endpoint.
        self._source.set_config_variable("sts_regional_endpoints", "regional")

    def load(self) -> DeferredRefreshableCredentials:
        """Return credentials for botocore's chain that are fetched on first use."""
        return DeferredRefreshableCredentials(self._assume_role, self.METHOD)

    def _assume_role(self) -> dict[str, str]:
        """Assume the role and return its credentials in the form that botocore expects."""
        sts: Any = self._source.create_client("sts", config=_STS_CONFIG)
        answer = sts.assume_role(**self._request)["Credentials"]
        return {
            "access_key": answer["AccessKeyId"],
            "secret_key": answer["SecretAccessKey"],
            "token": answer["SessionToken"],
            "expiry_time": answer["Expiration"].isoformat(),
        }
