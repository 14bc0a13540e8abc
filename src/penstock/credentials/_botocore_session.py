"""Sessions of botocore. boto3 takes 0.05 s more to import and adds nothing that we use."""

from __future__ import annotations

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

_STS_CONFIG = Config(
    connect_timeout=5,
    read_timeout=10,
    retries={"mode": "standard", "total_max_attempts": 3},
)

# botocore reads only the second one; the other AWS SDKs and the AWS CLI read the first.
_VARIABLES = {"region": ("region", ["AWS_REGION", "AWS_DEFAULT_REGION"], None, None)}


def new_session(region: str | None) -> Session:
    """Return a session with the process's own credentials."""
    session = Session(session_vars=_VARIABLES)
    if region is not None:
        session.set_config_variable("region", region)
    return session


def new_role_session(
    region: str | None, role_arn: str, external_id: str | None, session_name: str
) -> Session:
    """Return a session with the credentials of a role, which is assumed at the first use."""
    session = new_session(region)
    role = AssumedRole(region, role_arn, external_id, session_name)
    session.register_component("credential_provider", CredentialResolver([role]))
    return session


class AssumedRole(CredentialProvider):
    """The only provider in a session's credential chain: a role, without a fallback."""

    METHOD = "assume-role"

    def __init__(
        self, region: str | None, role_arn: str, external_id: str | None, session_name: str
    ) -> None:
        super().__init__()
        self._request: AssumeRoleRequestTypeDef = {
            "RoleArn": role_arn,
            "RoleSessionName": session_name,
        }
        if external_id:
            self._request["ExternalId"] = external_id
        self._source = new_session(region)
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
