"""How a client says who it is, and whom it trusts."""

from __future__ import annotations

import json
import ssl
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import trustme

from penstock.attempts import Attempts
from penstock.errors import (
    RegistryAccessDeniedError,
    RegistryAnswerError,
    RegistryUnavailableError,
    SchemaNotFoundError,
    SettingsError,
)
from penstock.framing import SchemaKey
from penstock.registry import ConfluentRegistry, HttpRegistrySettings
from tests.unit.registry.http.conftest import FakeServer, serve

_KEY = SchemaKey.parse("confluent:7")


@pytest.fixture
def secret(tmp_path: Path) -> Callable[..., str]:
    def write(**fields: str | None) -> str:
        path = tmp_path / "secret.json"
        path.write_text(json.dumps(fields))
        return str(path)

    return write


@pytest.mark.parametrize(
    ("fields", "header"),
    [
        ({"username": "me", "password": "agreed"}, "Basic bWU6YWdyZWVk"),
        ({"password": "agreed", "user": "me"}, "Basic bWU6YWdyZWVk"),
        ({"token": "agreed"}, "Bearer agreed"),
        ({"token": " agreed\n"}, "Bearer agreed"),
        ({"username": "me\n", "password": "agreed\n", "token": None}, "Basic bWU6YWdyZWVk"),
        ({"username": "me", "password": None, "token": ""}, "Basic bWU6"),
        ({}, None),
    ],
)
def test_the_secret_has_the_login(
    server: FakeServer, build: Any, secret: Any, fields: Any, header: str | None
) -> None:
    user = fields.pop("user", "")  # of the URL
    registry = build(secret=secret(**fields), user=user)
    with pytest.raises(SchemaNotFoundError) as caught:
        registry.get(_KEY)

    assert server.authorizations == [header]
    shown = f"{caught.value} {registry.source} {registry._http._connection}"
    assert "agreed" not in shown
    assert "bWU6YWdyZWVk" not in shown


def test_a_secret_that_was_rotated_is_read_again(
    server: FakeServer, build: Any, secret: Any
) -> None:
    registry = build(secret=secret(token="old"))
    call = "GET /schemas/ids/7/versions?deleted=true"
    server.answers[call] = [(401, ""), (404, '{"error_code": 40403}')]
    find = server.find
    server.find = lambda call: secret(token="new") and find(call)  # type: ignore[method-assign]

    with pytest.raises(SchemaNotFoundError):
        registry.get(_KEY)

    assert server.authorizations == ["Bearer old", "Bearer new"]


@pytest.mark.parametrize("text", ["agreed", '["agreed"]', '{"token": ["agreed"]}'])
def test_a_secret_that_is_not_as_expected_is_named_but_not_shown(
    build: Any, tmp_path: Path, text: str
) -> None:
    path = tmp_path / "secret.json"
    path.write_text(text)

    with pytest.raises(RegistryAccessDeniedError, match=r"secret.json is not as expe") as caught:
        build(secret=str(path)).get(_KEY)

    assert "agreed" not in str(caught.value)


@pytest.mark.parametrize("character", ["\n", "\0", "\x7f", "ü", "\u20ac", "\ud800"])
def test_a_token_that_no_header_can_carry_is_refused_but_not_shown(
    server: FakeServer, build: Any, secret: Any, character: str
) -> None:
    registry = build(secret=secret(token=f"agr{character}eed"))

    with pytest.raises(RegistryAccessDeniedError, match="has characters that an HTTP h") as caught:
        registry.get(_KEY)

    assert "agr" not in "".join(traceback.format_exception(caught.value))
    assert server.calls == []


@pytest.mark.parametrize("value", ["agr\need", "agreed\u20ac"])
def test_a_header_that_cannot_be_sent_is_an_error_of_ours(build: Any, value: str) -> None:
    with pytest.raises(RegistryAnswerError, match="GET /mode cannot be sent to conf") as caught:
        build()._http.call("GET", "/mode", headers={"X": value})

    assert "agr" not in "".join(traceback.format_exception(caught.value))


def test_a_secret_that_is_missing_is_named(build: Any) -> None:
    with pytest.raises(RegistryAccessDeniedError, match="the secret /nowhere cannot be read: "):
        build(secret="/nowhere").get(_KEY)


def test_a_secret_is_read_from_secrets_manager(
    server: FakeServer, build: Any, cloud: Any, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", cloud.endpoint)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "111111111111")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "any")
    made = client("secretsmanager").create_secret(Name="registry", SecretString='{"token": "t"}')

    with pytest.raises(SchemaNotFoundError):
        build(secret=made["ARN"]).get(_KEY)
    with pytest.raises(RegistryAccessDeniedError, match=r"registry2.* cannot be read: .*NotFound"):
        build(secret=f"{made['ARN'].rpartition(':')[0]}:registry2").get(_KEY)

    assert server.authorizations == ["Bearer t"]


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def tls_server(authority: trustme.CA) -> Iterator[FakeServer]:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("localhost").configure_cert(context)
    authority.configure_trust(context)
    context.verify_mode = ssl.CERT_REQUIRED
    with closing(serve(context)) as serving:
        yield next(serving)
        next(serving, None)


@pytest.mark.parametrize("renewed", ["ca", "certificate"])
def test_certificates_that_were_renewed_are_read_again(
    tls_server: FakeServer, authority: trustme.CA, secret: Any, renewed: str
) -> None:
    def issue(of: trustme.CA) -> str:
        mine = of.issue_cert("client")
        return (mine.cert_chain_pems[0].bytes() + mine.private_key_pem.bytes()).decode()

    old = trustme.CA()
    fields = {"ca": authority.cert_pem.bytes().decode(), "certificate": issue(authority)}
    replaced = {"ca": old.cert_pem.bytes().decode(), "certificate": issue(old)}[renewed]
    where = secret(**fields | {renewed: replaced})
    attempts = Attempts(0, 0, 30, sleep=lambda _: secret(**fields) and None)
    host = tls_server.host.replace("127.0.0.1", "localhost")
    settings = HttpRegistrySettings("confluent+https", host, secret=where)

    with pytest.raises(SchemaNotFoundError):
        ConfluentRegistry(settings, attempts=attempts).get(_KEY)


def test_a_server_of_an_own_authority_sees_the_clients_certificate(
    tls_server: FakeServer, authority: trustme.CA, secret: Any, tmp_path: Path, attempts: Any
) -> None:
    def ask(**settings: str) -> None:
        host = tls_server.host.replace("127.0.0.1", "localhost")
        given = HttpRegistrySettings("confluent+https", host, **settings)  # type: ignore[arg-type]
        ConfluentRegistry(given, attempts=attempts(first=20)).get(_KEY)

    mine = authority.issue_cert("client")
    chain = mine.cert_chain_pems[0].bytes().decode()
    key = mine.private_key_pem.bytes().decode()
    ca = authority.cert_pem.bytes().decode()
    (tmp_path / "ca.pem").write_text(ca)

    with pytest.raises(SchemaNotFoundError):
        ask(secret=secret(certificate=chain, private_key=key, ca=ca))
    with pytest.raises(SchemaNotFoundError):
        ask(secret=secret(certificate=chain, private_key=key), ca_file=str(tmp_path / "ca.pem"))
    with pytest.raises(RegistryUnavailableError, match="no answer from"):  # no certificate
        ask(ca_file=str(tmp_path / "ca.pem"))
    with pytest.raises(RegistryUnavailableError, match="certificate verify failed"):
        ask(secret=secret(certificate=chain, private_key=key))
    with pytest.raises(SettingsError, match=r"the certificates for .* cannot be used"):
        ask(secret=secret(certificate=chain, ca=ca))
