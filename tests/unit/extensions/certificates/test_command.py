"""`penstock certificate` issues by a private CA into a secret, and shows no key."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from moto import mock_aws

from localcloud.testing.certificates import PrivateAuthority
from penstock.cli import main
from penstock.extensions.certificates import operation
from penstock.kafka import KafkaSettings, Security, find_user
from systems.sessions import make_session
from tests.fixtures.commands import read_json

_NO_AUTHORITY = (
    "arn:aws:acm-pca:eu-central-1:123456789012:certificate-authority/"
    "01234567-89ab-cdef-0123-456789abcdef"
)


@dataclass(frozen=True)
class Aws:
    """A private CA and a secret without a value, and the roles that were assumed."""

    authority: str
    secret: str
    secrets: Any
    roles: list[str | None]

    def run(self, *words: str) -> int:
        flags = ["--authority", self.authority, "--secret", self.secret]
        return main(["certificate", *flags, *words])


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[Aws]:
    session, roles = make_session("AKIAMADEUP", region="eu-central-1"), []

    def load_session(*, region: str, role_arn: str | None = None, external_id: None = None) -> Any:
        assert region == "eu-central-1"
        roles.append(role_arn)
        return session

    monkeypatch.setattr(operation, "load_session", load_session)
    monkeypatch.setattr("penstock.kafka._aws.load_session", load_session)
    with mock_aws():
        secrets = session.create_client("secretsmanager")
        authority = PrivateAuthority.make(session.create_client("acm-pca"))
        yield Aws(authority.arn, secrets.create_secret(Name="ledger")["ARN"], secrets, roles)


def test_a_certificate_is_in_its_secret_and_its_key_is_shown_to_nobody(
    aws: Aws, capsys: pytest.CaptureFixture[str]
) -> None:
    assert aws.run("CN=ledger,OU=billing,O=Acme") == 0

    printed = capsys.readouterr().out
    assert printed.startswith("user       CN=ledger,OU=billing,O=Acme\nvalid to   2")
    assert printed.endswith(f"UTC\nsecret     {aws.secret}\n")
    kept = json.loads(aws.secrets.get_secret_value(SecretId=aws.secret)["SecretString"])
    assert kept["certificate"].count("BEGIN CERTIFICATE") == 2
    assert "PRIVATE KEY" not in printed
    settings = KafkaSettings(("b-1.x:9094",), Security.TLS, secret_arn=aws.secret)
    assert find_user(settings) == "CN=ledger,OU=billing,O=Acme"


def test_a_role_asks_the_authority_and_json_has_all_of_it(
    aws: Aws, capsys: pytest.CaptureFixture[str]
) -> None:
    role = "arn:aws:iam::123456789012:role/issuer"

    assert aws.run("CN=ledger", "--days", "1", "--authority-role", role, "--output", "json") == 0

    (issued,) = read_json("certificate", capsys.readouterr().out)
    assert issued.keys() == {"user", "secretArn", "endsAt"}
    assert issued["user"] == "CN=ledger"
    assert aws.roles == [role, None]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"name": "ledger"}, "the name is 'ledger', expected a distinguished name such as CN=led"),
        ({"authority": _NO_AUTHORITY}, f"{_NO_AUTHORITY} issues no certificate for CN=ledger: "),
        ({"secret": "arn:aws:secretsmanager:eu-central-1:123456789012:secret:x"}, "the certificat"
         "e cannot be kept in arn:aws:secretsmanager:eu-central-1:123456789012:secret:x: "),
    ],
)  # fmt: skip
def test_a_refusal_is_a_sentence(
    aws: Aws, changes: dict[str, str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = {"name": "CN=ledger", "authority": aws.authority, "secret": aws.secret} | changes
    flags = ["--authority", given["authority"], "--secret", given["secret"]]

    assert main(["certificate", given["name"], *flags]) == 1

    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [["--days", "0"], ["--days", "4000"], ["--authority", "clients"], ["--secret", "ledger"]],
)
def test_a_wrong_flag_is_refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    secret = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:ledger"
    flags = ["--authority", _NO_AUTHORITY, "--secret", secret]

    with pytest.raises(SystemExit) as caught:
        main(["certificate", "CN=ledger", *flags, *words])

    assert caught.value.code == 2
    assert f"argument {words[0]}" in capsys.readouterr().err
