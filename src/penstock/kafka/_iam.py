"""The IAM login of MSK: a URL presigned with AWS credentials, sent as an OAUTHBEARER token."""

from __future__ import annotations

from typing import Any

from botocore.exceptions import NoCredentialsError
from kafka.net.sasl.oauth import AbstractTokenProvider

from penstock.credentials import ROLE_SESSION_NAME
from penstock.kafka._aws import aws_session
from penstock.kafka._mechanism import build_context, trust_options, write_login
from penstock.kafka.settings import KafkaSettings

_JAVA = "software.amazon.msk.auth.iam"


class IamMechanism:
    """Log in with the AWS credentials of the environment or of an assumed role."""

    def __init__(self, settings: KafkaSettings) -> None:
        self._settings = settings

    def client_options(self) -> dict[str, Any]:
        """Return kafka-python's options."""
        return {
            "security_protocol": "SASL_SSL",
            "ssl_context": build_context(self._settings.ca_file),
            "sasl_mechanism": "OAUTHBEARER",
            "sasl_oauth_token_provider": _TokenProvider(self._settings),
        }

    def java_options(self) -> dict[str, str]:
        """Return the properties of a Java client that has the library `aws-msk-iam-auth`."""
        settings = self._settings
        role = {"awsRoleArn": settings.role_arn, "awsRoleExternalId": settings.external_id}
        if settings.role_arn:
            role |= {"awsRoleSessionName": ROLE_SESSION_NAME, "awsStsRegion": settings.region}
        given = {name: value for name, value in role.items() if value}
        return {
            "security.protocol": "SASL_SSL",
            **trust_options(settings.ca_file),
            "sasl.mechanism": "AWS_MSK_IAM",
            "sasl.jaas.config": write_login(f"{_JAVA}.IAMLoginModule", **given),
            "sasl.client.callback.handler.class": f"{_JAVA}.IAMClientCallbackHandler",
        }


class _TokenProvider(AbstractTokenProvider):  # type: ignore[misc] # kafka-python is not typed
    """Signs a new token for each login and caches none.

    Signing takes 0.3 ms and makes no call, and the session renews the credentials. A cached token
    would claim to be valid for 15 minutes even if the credentials that signed it expire sooner.
    """

    def __init__(self, settings: KafkaSettings) -> None:
        self._settings = settings

    def token(self) -> str:
        """Return a token signed with the current credentials."""
        region, failure = self._settings.region, "no AWS credentials for the login by IAM"
        with aws_session(self._settings, region, failure) as session:
            if (credentials := session.get_credentials()) is None:
                raise NoCredentialsError
            keys = credentials.get_frozen_credentials()
        return _sign(region, keys)


def _sign(region: str, keys: Any) -> str:
    # The signer brings boto3, whose import functions with other logins need not wait for.
    from aws_msk_iam_sasl_signer import MSKAuthTokenProvider  # noqa: PLC0415
    from botocore.credentials import CredentialProvider, ReadOnlyCredentials  # noqa: PLC0415

    class Given(CredentialProvider):
        """A credential provider, as the signer expects one, of keys that are already loaded."""

        def load(self) -> ReadOnlyCredentials:
            return ReadOnlyCredentials(*keys)

    token, _ = MSKAuthTokenProvider.generate_auth_token_from_credentials_provider(region, Given())
    return str(token)
