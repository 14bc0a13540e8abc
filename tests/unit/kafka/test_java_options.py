"""What a Java client, such as Spark's, is told: where to connect, and how to log in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import Mock, patch

import pytest
import trustme

from penstock.kafka import KafkaSettings, Security, java_options
from tests.fixtures.certificates import issue_login

_REGION = "eu-central-1"
_ROLE = "arn:aws:iam::123456789012:role/reader"
_ARN = f"arn:aws:secretsmanager:{_REGION}:123456789012:secret:AmazonMSK_c-AbCdEf"
_COMMON = {
    "bootstrap.servers": "b-1.x:9098,b-2.x:9098",
    "client.id": "penstock",
    "connections.max.idle.ms": "300000",
}


def _options(security: Security, **changes: Any) -> dict[str, str]:
    servers = ("b-1.x:9098", "b-2.x:9098")
    return java_options(KafkaSettings(bootstrap_servers=servers, security=security, **changes))


@contextmanager
def kept_secret(text: str) -> Iterator[None]:
    """Let Secrets Manager have that secret."""
    client = Mock(get_secret_value=lambda SecretId: {"SecretString": text})
    session = Mock(create_client=lambda service: client)
    with patch("penstock.kafka._aws.load_session", lambda **_: session):
        yield


@pytest.fixture
def ca_file(tmp_path: Path) -> Path:
    path = tmp_path / "ca.pem"
    trustme.CA().cert_pem.write_to_path(str(path))
    return path


def test_plaintext() -> None:
    assert _options(Security.PLAINTEXT) == _COMMON | {"security.protocol": "PLAINTEXT"}


def test_tls_trusts_the_system() -> None:
    assert _options(Security.TLS) == _COMMON | {"security.protocol": "SSL"}


def test_tls_carries_the_certificates_themselves(ca_file: Path) -> None:
    assert _options(Security.TLS, ca_file=str(ca_file)) == _COMMON | {
        "security.protocol": "SSL",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.certificates": ca_file.read_text(),
    }


@pytest.mark.parametrize("password", ["", "open sesame"])
def test_tls_with_a_client_certificate(ca_file: Path, password: str) -> None:
    login = issue_login(trustme.CA(), "orders", password)

    with kept_secret(json.dumps(login)):
        options = _options(Security.TLS, secret_arn=_ARN, ca_file=str(ca_file))

    assert options == _COMMON | {
        "security.protocol": "SSL",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.certificates": ca_file.read_text(),
        "ssl.keystore.type": "PEM",
        "ssl.keystore.certificate.chain": login["certificate"],
        "ssl.keystore.key": login["privateKey"],
        **({"ssl.key.password": password} if password else {}),
    }


def test_scram_escapes_special_characters_of_a_password(ca_file: Path) -> None:
    secret = json.dumps({"username": "carol", "password": 'a"b\\c;'})

    with kept_secret(secret):
        options = _options(Security.SCRAM, secret_arn=_ARN, ca_file=str(ca_file))

    assert options["security.protocol"] == "SASL_SSL"
    assert options["sasl.mechanism"] == "SCRAM-SHA-512"
    assert options["ssl.truststore.certificates"] == ca_file.read_text()
    assert options["sasl.jaas.config"] == (
        "org.apache.kafka.common.security.scram.ScramLoginModule required"
        r' username="carol" password="a\"b\\c;";'
    )


def test_iam_with_the_credentials_of_the_process() -> None:
    assert _options(Security.IAM, region=_REGION) == _COMMON | {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "AWS_MSK_IAM",
        "sasl.jaas.config": "software.amazon.msk.auth.iam.IAMLoginModule required;",
        "sasl.client.callback.handler.class": (
            "software.amazon.msk.auth.iam.IAMClientCallbackHandler"
        ),
    }


def test_iam_with_a_role() -> None:
    options = _options(Security.IAM, region=_REGION, role_arn=_ROLE, external_id="x-1")

    assert options["sasl.jaas.config"] == (
        "software.amazon.msk.auth.iam.IAMLoginModule required"
        f' awsRoleArn="{_ROLE}" awsRoleExternalId="x-1"'
        f' awsRoleSessionName="penstock" awsStsRegion="{_REGION}";'
    )
