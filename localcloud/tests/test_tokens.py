"""The check of MSK IAM logins against tokens of AWS's own signer, and against what is wrong."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl, quote, urlsplit

import pytest
from aws_msk_iam_sasl_signer import MSKAuthTokenProvider
from botocore.auth import SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import CredentialProvider, Credentials, ReadOnlyCredentials

from localcloud.errors import TokenRefusedError
from localcloud.identity import AcceptedToken, KnownKey, check_payload, check_token

_KEY = KnownKey("arn:aws:sts::111111111111:assumed-role/producer/penstock", "secret", "to/k+en=")


def _sign(*, secret: str = _KEY.secret_key, session_token: str | None = _KEY.session_token) -> str:
    class Given(CredentialProvider):
        def __init__(self) -> None:
            pass

        def load(self) -> ReadOnlyCredentials:
            return ReadOnlyCredentials("AKIAX", secret, session_token)

    sign = MSKAuthTokenProvider.generate_auth_token_from_credentials_provider
    return sign("eu-central-1", Given())[0]


def _check(token: str, key: KnownKey = _KEY, *, after: float = 0.0) -> AcceptedToken:
    now = datetime.now(UTC) + timedelta(seconds=after)
    return check_token(token, {"AKIAX": key}.get, now)


def _changed(old: str, new: str) -> str:
    token = _sign()
    url = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode()
    assert old in url
    return base64.urlsafe_b64encode(url.replace(old, new).encode()).decode()


def test_a_token_of_the_signer_holds_for_15_minutes() -> None:
    accepted = _check(_sign())

    assert accepted.principal == _KEY.principal
    left = accepted.expires_at - datetime.now(UTC)
    assert timedelta(seconds=895) < left <= timedelta(seconds=900)


def test_a_token_without_session() -> None:
    assert _check(_sign(session_token=None), replace(_KEY, session_token=None)).principal


def test_a_login_ends_with_its_credentials() -> None:
    ends = datetime.now(UTC) + timedelta(seconds=30)

    assert _check(_sign(), replace(_KEY, expires_at=ends)).expires_at == ends


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: "garbage", "not the url-safe base64 of a presigned URL"),
        (lambda: "YQ", "X-Amz-Credential, X-Amz-Date, X-Amz-Expires, X-Amz-Signature is missing"),
        (lambda: _changed("X-Amz-Date=", "x="), "X-Amz-Date is missing"),
        (lambda: _sign(secret="another"), "the signature does not match"),
        (
            lambda: _changed("X-Amz-Expires=900", "X-Amz-Expires=901"),
            "the signature does not match",
        ),
        (lambda: _changed("AKIAX", "AKIAY"), "the access key 'AKIAY' does not exist"),
        (lambda: _sign(session_token="x"), "the session token is not the one of its access key"),
        (
            lambda: _changed("kafka.eu-central-1.amazonaws.com", "b-1.eu-central-1.amazonaws.com"),
            "signed for 'b-1.eu-central-1.amazonaws.com', not for kafka.<region>.amazonaws.com",
        ),
        (
            lambda: _changed("kafka.eu-central-1.", "kafka.eu-west-1."),
            "the credential's scope is '2",
        ),
        (
            lambda: _changed(quote("kafka-cluster:Connect", safe=""), "s3:GetObject"),
            "the action is 's3:GetObject', not kafka-cluster:Connect",
        ),
    ],
)
def test_invalid_tokens_are_rejected(make: Callable[[], str], message: str) -> None:
    with pytest.raises(TokenRefusedError) as caught:
        _check(make())

    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("after", "message"), [(901.0, "it expired at 2"), (-301.0, "it is signed in the future, at 2")]
)
def test_a_token_at_another_time(after: float, message: str) -> None:
    token = _sign()

    with pytest.raises(TokenRefusedError, match=message):
        _check(token, after=after)


def test_a_token_that_is_valid_for_hours_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MSKAuthTokenProvider, "DEFAULT_TOKEN_EXPIRY_SECONDS", 43_200)

    with pytest.raises(TokenRefusedError, match="it expires after 43200 s, expected 1 to 900"):
        _check(_sign())


_HOST = "b-1.c.abc123.c1.kafka.eu-central-1.amazonaws.com"


def _sign_payload(**changes: str | None) -> str:
    """Sign for a broker, as clients of AWS_MSK_IAM do: the same query, as a JSON object."""
    url = f"https://{_HOST}/?Action=kafka-cluster%3AConnect"
    request = AWSRequest("GET", url)
    credentials = Credentials("AKIAX", _KEY.secret_key, _KEY.session_token)
    SigV4QueryAuth(credentials, "kafka-cluster", "eu-central-1", expires=900).add_auth(request)
    query = dict(parse_qsl(urlsplit(request.url).query))
    payload = {name.lower(): value for name, value in query.items()}
    payload |= {"version": "2020_10_22", "host": _HOST, "user-agent": "test"} | changes
    return json.dumps({name: value for name, value in payload.items() if value is not None})


def _check_payload(payload: str) -> AcceptedToken:
    keys = {"AKIAX": _KEY}.get
    return check_payload(payload, "eu-central-1", [_HOST], keys, datetime.now(UTC))


def test_a_payload_that_is_signed_for_a_broker_holds() -> None:
    assert _check_payload(_sign_payload()).principal == _KEY.principal


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        ("garbage", "not the JSON object of AWS_MSK_IAM"),
        ("[]", "not the JSON object of AWS_MSK_IAM"),
        (_sign_payload(host="b-9.c"), "signed for 'b-9.c', which is not a broker of this cluster"),
        (_sign_payload(**{"x-amz-date": None}), "X-Amz-Date is missing"),
        (_sign_payload(**{"x-amz-expires": "600"}), "the signature does not match"),
        (_sign_payload(**{"x-amz-security-token": "x"}), "the session token is not the one of its"),
    ],
)
def test_invalid_payloads_are_rejected(payload: str, message: str) -> None:
    with pytest.raises(TokenRefusedError) as caught:
        _check_payload(payload)

    assert str(caught.value).startswith(message)
