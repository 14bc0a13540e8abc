"""Each way to log in: what it takes from AWS, and what it says when AWS does not give it."""

from __future__ import annotations

import base64
import json
import os
import socket
import ssl
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest.mock import Mock, patch
from urllib.parse import parse_qs, urlsplit

import boto3
import pytest
import trustme
from botocore.credentials import ReadOnlyCredentials
from botocore.exceptions import ClientError, EndpointConnectionError, NoCredentialsError
from moto import mock_aws

from penstock.credentials import forget_sessions
from penstock.errors import BrokerLoginError, BrokerUnavailableError, PenstockError
from penstock.kafka import KafkaSettings, Security, find_user
from penstock.kafka.login import client_options
from tests.fixtures.certificates import issue_login

_REGION = "eu-central-1"
_ROLE = "arn:aws:iam::123456789012:role/reader"
_ARN = f"arn:aws:secretsmanager:{_REGION}:123456789012:secret:AmazonMSK_c-AbCdEf"


def _settings(security: Security, **changes: Any) -> KafkaSettings:
    return KafkaSettings(**({"bootstrap_servers": ("b-1.x:9098",), "security": security} | changes))


def _client_error(code: str, status: int) -> ClientError:
    metadata = {"HTTPStatusCode": status}
    return ClientError({"Error": {"Code": code}, "ResponseMetadata": metadata}, "Operation")


def test_plaintext() -> None:
    assert client_options(_settings(Security.PLAINTEXT)) == {
        "bootstrap_servers": ["b-1.x:9098"],
        "client_id": "penstock",
        "connections_max_idle_ms": 300_000,
        "metadata_max_age_ms": 10_000,
        "reconnect_backoff_max_ms": 250,
        "security_protocol": "PLAINTEXT",
    }


def test_tls_checks_certificate_and_name(tmp_path: Path) -> None:
    ca_file = tmp_path / "ca.pem"
    trustme.CA().cert_pem.write_to_path(str(ca_file))

    context = client_options(_settings(Security.TLS, ca_file=str(ca_file)))["ssl_context"]

    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname
    assert context.minimum_version >= ssl.TLSVersion.TLSv1_2
    assert len(context.get_ca_certs()) == 1


# --- scram ----------------------------------------------------------------------------------


class _Secrets:
    """A Secrets Manager with one secret, and whoever asks for a session gets to it."""

    def __init__(self) -> None:
        self.text = json.dumps({"username": "carol", "password": "open sesame"})
        self.error: Exception | None = None
        self.reads = 0
        self.asked: dict[str, Any] = {}

    def load_session(self, **asked: Any) -> Mock:
        self.asked = asked
        return Mock(create_client=lambda service: Mock(get_secret_value=self._get))

    def _get(self, SecretId: str) -> dict[str, str]:
        self.reads += 1
        if self.error:
            raise self.error
        return {"SecretString": self.text}


@pytest.fixture
def secrets() -> Iterator[_Secrets]:
    kept = _Secrets()
    with patch("penstock.kafka._aws.load_session", kept.load_session):
        yield kept


def _login(options: dict[str, Any]) -> tuple[bytes, bytes]:
    """What kafka-python sends at a login."""
    fields = ("sasl_plain_username", "sasl_plain_password")
    user, password = (options[field].encode("utf-8") for field in fields)
    return user, password


def test_scram_reads_the_secret_where_it_is(secrets: _Secrets) -> None:
    settings = _settings(Security.SCRAM, secret_arn=_ARN, role_arn=_ROLE, external_id="x")

    options = client_options(settings)

    assert options["sasl_mechanism"] == "SCRAM-SHA-512"
    assert _login(options) == (b"carol", b"open sesame")
    assert secrets.asked == {"region": _REGION, "role_arn": _ROLE, "external_id": "x"}
    assert secrets.reads == 1
    assert "sesame" not in repr(options)


def test_each_login_reads_the_secret_again(
    secrets: _Secrets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.kafka._scram._ONE_LOGIN_SECONDS", 0.0)
    options = client_options(_settings(Security.SCRAM, secret_arn=_ARN))

    secrets.text = json.dumps({"username": "dave", "password": "rotated"})

    assert _login(options) == (b"dave", b"rotated")
    assert secrets.asked == {"region": _REGION, "role_arn": None, "external_id": None}


@pytest.mark.parametrize(
    "text", ["open sesame", '"open sesame"', '["open sesame"]', '{"user": "open sesame"}', ""]
)
def test_a_secret_of_another_shape(secrets: _Secrets, text: str) -> None:
    secrets.text = text

    with pytest.raises(BrokerLoginError) as caught:
        client_options(_settings(Security.SCRAM, secret_arn=_ARN))

    assert str(caught.value) == (
        f"the secret {_ARN} is not as expected: a JSON object with username and password"
    )
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


_AWS_FAILURES = [
    (_client_error("AccessDeniedException", 400), BrokerLoginError),
    (_client_error("ThrottlingException", 400), BrokerUnavailableError),
    (_client_error("InternalServiceError", 500), BrokerUnavailableError),
    (EndpointConnectionError(endpoint_url="x"), BrokerUnavailableError),
    (NoCredentialsError(), BrokerLoginError),
    (RuntimeError("the refreshed credentials are still expired"), BrokerLoginError),
]


@pytest.mark.parametrize(("error", "kind"), _AWS_FAILURES)
def test_a_secret_that_cannot_be_read(
    secrets: _Secrets, error: Exception, kind: type[PenstockError]
) -> None:
    secrets.error = error

    with pytest.raises(kind, match=f"the secret {_ARN} cannot be read: ") as caught:
        client_options(_settings(Security.SCRAM, secret_arn=_ARN))

    assert type(caught.value) is kind
    assert caught.value.__cause__ is error


# --- certificate ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


def _shake_hands(server: ssl.SSLContext, context: ssl.SSLContext) -> bytes | None:
    """Connect a client with a context to a server; return the certificate that the server sees."""
    ours, theirs = socket.socketpair()
    with ours, theirs, ThreadPoolExecutor(max_workers=1) as pool:
        for end in (ours, theirs):
            end.settimeout(10)
        accepted = pool.submit(server.wrap_socket, theirs, server_side=True)
        with context.wrap_socket(ours, server_hostname="b-1.x"), accepted.result() as connection:
            return connection.getpeercert(binary_form=True)


@pytest.fixture
def server(authority: trustme.CA) -> ssl.SSLContext:
    """A broker that asks for a certificate of the authority."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("b-1.x").configure_cert(context)
    authority.configure_trust(context)
    context.verify_mode = ssl.CERT_REQUIRED
    return context


@pytest.fixture
def ca_file(authority: trustme.CA, tmp_path: Path) -> str:
    path = str(tmp_path / "ca.pem")
    authority.cert_pem.write_to_path(path)
    return path


def _certificate_of(login: dict[str, str]) -> bytes:
    return ssl.PEM_cert_to_DER_cert(login["certificate"])


@pytest.fixture(params=[True, False])
def in_memory(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the system has files in memory; macOS has not."""
    if not request.param:
        monkeypatch.delattr(os, "memfd_create")


@pytest.mark.usefixtures("in_memory")
@pytest.mark.parametrize("password", ["", "open sesame"])
def test_a_broker_sees_the_certificate_of_the_secret(
    secrets: _Secrets, authority: trustme.CA, server: ssl.SSLContext, ca_file: str, password: str
) -> None:
    login = issue_login(authority, "orders", password)
    secrets.text = json.dumps(login)

    options = client_options(_settings(Security.TLS, secret_arn=_ARN, ca_file=ca_file))

    assert options["security_protocol"] == "SSL"
    assert _shake_hands(server, options["ssl_context"]) == _certificate_of(login)
    assert "sasl_mechanism" not in options
    assert login["privateKey"] not in repr(options)


def test_a_renewed_certificate_is_followed(
    secrets: _Secrets,
    authority: trustme.CA,
    server: ssl.SSLContext,
    ca_file: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    old, new = (issue_login(authority, "orders") for _ in range(2))
    secrets.text = json.dumps(old)
    settings = _settings(Security.TLS, secret_arn=_ARN, ca_file=ca_file)
    context = client_options(settings)["ssl_context"]

    secrets.text = json.dumps(new)

    assert _shake_hands(server, context) == _certificate_of(old)
    monkeypatch.setattr("penstock.kafka._certificate._FRESH_SECONDS", 0.0)
    assert _shake_hands(server, context) == _certificate_of(new)
    secrets.error = _client_error("ThrottlingException", 400)
    assert _shake_hands(server, context) == _certificate_of(new)


def test_a_certificate_context_checks_the_broker(secrets: _Secrets, authority: trustme.CA) -> None:
    secrets.text = json.dumps(issue_login(authority, "orders"))

    context = client_options(_settings(Security.TLS, secret_arn=_ARN))["ssl_context"]

    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname
    assert context.cert_store_stats()["x509_ca"] > 0


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"privateKey": None}, "a JSON object with certificate and privateKey"),
        ({"certificate": "no PEM"}, "a certificate, and the private key that belongs to it"),
        (
            {"privateKey": "-----BEGIN RSA PRIVATE KEY-----"},
            "a privateKey in PKCS #8, which begins with -----BEGIN PRIVATE KEY-----",
        ),
    ],
)
def test_a_secret_without_a_usable_certificate(
    secrets: _Secrets, authority: trustme.CA, changes: dict[str, str | None], problem: str
) -> None:
    login = issue_login(authority, "orders") | changes
    secrets.text = json.dumps({name: value for name, value in login.items() if value})

    with pytest.raises(BrokerLoginError) as caught:
        client_options(_settings(Security.TLS, secret_arn=_ARN))

    assert str(caught.value) == f"the secret {_ARN} is not as expected: {problem}"
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_the_user_of_a_certificate_is_its_distinguished_name(
    secrets: _Secrets, authority: trustme.CA
) -> None:
    secrets.text = json.dumps(issue_login(authority, "orders"))

    assert find_user(_settings(Security.TLS, secret_arn=_ARN)) == "CN=orders,OU=data,O=Acme"
    assert find_user(_settings(Security.TLS)) == "ANONYMOUS"


# --- iam ------------------------------------------------------------------------------------


def _iam(**changes: Any) -> Any:
    settings = _settings(Security.IAM, region=_REGION, **changes)
    return client_options(settings)["sasl_oauth_token_provider"]


def _query(token: str) -> dict[str, str]:
    url = urlsplit(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode())
    assert url.netloc == f"kafka.{_REGION}.amazonaws.com"
    return {name: values[0] for name, values in parse_qs(url.query).items()}


def test_each_login_signs_with_the_credentials_of_the_moment() -> None:
    credentials = Mock()
    session = Mock(get_credentials=lambda: credentials)

    with patch("penstock.kafka._aws.load_session", return_value=session) as load:
        provider = _iam(role_arn=_ROLE, external_id="x")
        credentials.get_frozen_credentials.return_value = ReadOnlyCredentials("AK1", "s", "t/+1")
        first = _query(provider.token())
        credentials.get_frozen_credentials.return_value = ReadOnlyCredentials("AK2", "s", "t/+2")
        second = _query(provider.token())

    assert load.call_args.kwargs == {"region": _REGION, "role_arn": _ROLE, "external_id": "x"}
    assert [first["Action"], first["X-Amz-Expires"]] == ["kafka-cluster:Connect", "900"]
    assert [q["X-Amz-Security-Token"] for q in (first, second)] == ["t/+1", "t/+2"]
    assert [q["X-Amz-Credential"].split("/")[0] for q in (first, second)] == ["AK1", "AK2"]


def test_a_role_is_assumed_for_the_token() -> None:
    with mock_aws():
        iam = boto3.client("iam", region_name=_REGION)
        role = iam.create_role(RoleName="r-for-token", AssumeRolePolicyDocument="{}")["Role"]["Arn"]

        query = _query(_iam(role_arn=role).token())

    assert query["X-Amz-Credential"].startswith("ASIA")
    assert query["X-Amz-Security-Token"]


def test_no_credentials_at_all() -> None:
    session = Mock(get_credentials=lambda: None)

    with patch("penstock.kafka._aws.load_session", return_value=session):
        with pytest.raises(BrokerLoginError, match="no AWS credentials for the login by IAM: Una"):
            _iam().token()


@pytest.mark.parametrize(
    ("log_in", "failure"),
    [
        (lambda: _iam().token(), "no AWS credentials for the login by IAM"),
        (
            lambda: client_options(_settings(Security.SCRAM, secret_arn=_ARN)),
            f"the secret {_ARN} cannot be read",
        ),
    ],
)
def test_a_program_of_credentials_that_is_missing_is_named(
    log_in: Callable[[], object], failure: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config"
    config.write_text("[profile corp]\ncredential_process = /nowhere\n")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    monkeypatch.setenv("AWS_PROFILE", "corp")
    forget_sessions()

    try:
        with pytest.raises(BrokerLoginError, match=rf"^{failure}: .*: '/nowhere'$"):
            log_in()
    finally:
        forget_sessions()


@pytest.mark.parametrize(("error", "kind"), _AWS_FAILURES)
def test_credentials_that_cannot_be_loaded(error: Exception, kind: type[PenstockError]) -> None:
    session = Mock(get_credentials=Mock(side_effect=error))

    with patch("penstock.kafka._aws.load_session", return_value=session):
        with pytest.raises(kind, match="no AWS credentials for the login by IAM: ") as caught:
            _iam().token()

    assert type(caught.value) is kind
