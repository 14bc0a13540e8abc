"""The IAM login of MSK: a URL presigned with AWS credentials, sent as an OAUTHBEARER token."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from typing import Any, Final

from botocore.exceptions import NoCredentialsError
from kafka.net.sasl.oauth import AbstractTokenProvider

from penstock.aws import Presigner
from penstock.credentials import ROLE_SESSION_NAME
from penstock.kafka._aws import aws_session
from penstock.kafka._mechanism import build_context, trust_options, write_login
from penstock.kafka.settings import KafkaSettings

_JAVA = "software.amazon.msk.auth.iam"
# The request that the brokers make of a token, as AWS's own signers for MSK write it.
_ACTION: Final = "kafka-cluster:Connect"
_SECONDS: Final = 900
_USER_AGENT: Final = "penstock"


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

    Signing takes 0.1 ms and makes no call, and the session renews the credentials. A cached token
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
        presigner = Presigner("kafka-cluster", f"kafka.{region}.amazonaws.com", region)
        url = presigner.sign_url(keys, _ACTION, _SECONDS, datetime.now(UTC))
        signed = f"{url}&User-Agent={_USER_AGENT}".encode()
        return base64.urlsafe_b64encode(signed).decode().rstrip("=")
