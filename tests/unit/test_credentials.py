"""Assumed roles: one renewal for all, in time, under one name, and nothing secret shown."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from penstock.credentials import forget_sessions, load_session
from penstock.credentials._botocore_session import AssumedRole, new_session
from penstock.credentials.environment import _DECIDES_MORE, EnvironmentSession, decides_alone
from tests.stubs.http import serve
from tests.stubs.sts_api import SECRET, StsApi

_ROLE = "arn:aws:iam::111122223333:role/registry-reader"


@pytest.fixture
def sts(monkeypatch: pytest.MonkeyPatch) -> Iterator[StsApi]:
    api = StsApi(external_id="agreed")
    forget_sessions()
    with serve(api.respond) as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL_STS", address)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "own-key")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "own-secret")
        monkeypatch.delenv("AWS_SESSION_TOKEN", raising=False)
        yield api
    forget_sessions()


def test_equal_arguments_share_one_session() -> None:
    one = load_session(region="eu-central-1", role_arn=_ROLE, external_id="agreed")

    assert load_session(region="eu-central-1", role_arn=_ROLE, external_id="agreed") is one
    assert load_session(region="eu-central-1", role_arn=_ROLE, external_id="other") is not one
    assert load_session(region="eu-west-1", role_arn=_ROLE, external_id="agreed") is not one


def test_without_a_role_the_credentials_are_the_process_ones(sts: StsApi) -> None:
    own = load_session(region="eu-central-1").get_credentials()

    assert own is not None
    assert own.access_key == "own-key"
    assert sts.requests == []


@pytest.mark.parametrize("role_arn", [None, _ROLE])
@pytest.mark.parametrize("variable", ["AWS_REGION", "AWS_DEFAULT_REGION"])
def test_the_region_comes_from_either_variable(
    sts: StsApi, monkeypatch: pytest.MonkeyPatch, variable: str, role_arn: str | None
) -> None:
    monkeypatch.delenv("AWS_REGION", raising=False)
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    monkeypatch.setenv(variable, "eu-central-1")

    session = load_session(role_arn=role_arn, external_id="agreed")

    assert session.create_client("s3").meta.region_name == "eu-central-1"


def test_a_role_is_assumed_on_first_use_under_the_fixed_name(sts: StsApi) -> None:
    session = load_session(region="eu-central-1", role_arn=_ROLE, external_id="agreed")
    role = session.get_credentials()
    assert sts.requests == []
    assert role is not None

    assert role.get_frozen_credentials().token == "token-1"
    assert sts.requests[0]["RoleArn"] == _ROLE
    assert sts.requests[0]["RoleSessionName"] == "penstock"
    assert sts.requests[0]["ExternalId"] == "agreed"


def test_no_external_id_is_sent_when_there_is_none(sts: StsApi) -> None:
    sts.external_id = None
    role = load_session(region="eu-central-1", role_arn=_ROLE).get_credentials()

    assert role is not None
    assert role.token == "token-1"
    assert "ExternalId" not in sts.requests[0]


def test_sixteen_threads_make_one_call(sts: StsApi) -> None:
    def token(_: int) -> str | None:
        session = load_session(region="eu-central-1", role_arn=_ROLE, external_id="agreed")
        role = session.get_credentials()
        assert role is not None
        return role.get_frozen_credentials().token

    with ThreadPoolExecutor(16) as pool:
        tokens = set(pool.map(token, range(16)))

    assert tokens == {"token-1"}
    assert len(sts.requests) == 1


def test_credentials_are_renewed_before_they_expire(sts: StsApi) -> None:
    sts.lifetime = timedelta(minutes=9)  # under botocore's 10 minutes, so each use renews
    role = load_session(
        region="eu-central-1", role_arn=_ROLE, external_id="agreed"
    ).get_credentials()
    assert role is not None

    tokens = [role.get_frozen_credentials().token for _ in range(2)]

    sts.lifetime = timedelta(hours=1)
    tokens += [role.get_frozen_credentials().token for _ in range(2)]
    assert tokens == ["token-1", "token-2", "token-3", "token-3"]


def test_a_role_that_cannot_be_assumed_is_named(sts: StsApi) -> None:
    role = load_session(
        region="eu-central-1", role_arn=_ROLE, external_id="wrong"
    ).get_credentials()
    assert role is not None

    with pytest.raises(ClientError, match=f"(?s)AccessDenied.*sts:AssumeRole on resource: {_ROLE}"):
        role.get_frozen_credentials()


def test_the_regional_endpoint_is_called_whatever_the_environment_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_STS_REGIONAL_ENDPOINTS", "legacy")
    role = AssumedRole("us-east-1", _ROLE, None, "penstock")

    assert (
        role._source.create_client("sts").meta.endpoint_url == "https://sts.us-east-1.amazonaws.com"
    )


def test_secrets_are_not_in_repr(sts: StsApi, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="penstock")
    session = load_session(region="eu-central-1", role_arn=_ROLE, external_id="agreed")
    role = session.get_credentials()
    assert role is not None
    assert role.secret_key == SECRET

    shown = f"{session!r} {role!r} {caplog.text}"

    assert SECRET not in shown
    assert "agreed" not in shown


_ENVIRONMENTS: dict[str, dict[str, str]] = {
    "of a function": {"AWS_SESSION_TOKEN": "a-token", "AWS_REGION": "eu-west-3"},
    "without a token": {"AWS_DEFAULT_REGION": "eu-west-3"},
    "two regions": {"AWS_REGION": "eu-west-3", "AWS_DEFAULT_REGION": "eu-north-1"},
    "authorities": {"AWS_CA_BUNDLE": "/etc/ca.pem", "AWS_REGION": "eu-west-3"},
    "no region": {},
}


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "own-key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "own-secret")
    return monkeypatch


@pytest.mark.parametrize("variables", _ENVIRONMENTS.values(), ids=_ENVIRONMENTS)
@pytest.mark.parametrize("region", [None, "us-east-1"])
def test_an_environment_that_decides_alone_gives_what_botocore_gives(
    alone: pytest.MonkeyPatch, variables: dict[str, str], region: str | None
) -> None:
    for name, value in variables.items():
        alone.setenv(name, value)
    assert decides_alone()
    ours, theirs = EnvironmentSession(region), new_session(region)

    expected = theirs.get_credentials()
    assert expected is not None
    assert ours.get_credentials().get_frozen_credentials() == expected.get_frozen_credentials()[:3]
    for name in ("ca_bundle", "region", "use_fips_endpoint", "use_dualstack_endpoint"):
        assert (ours.get_config_variable(name) or None) == (
            theirs.get_config_variable(name) or None
        )
    assert ours.full_config["profiles"] == theirs.full_config["profiles"]
    assert ours.get_config_variable("retry_mode") == theirs.get_config_variable("retry_mode")
    assert "own-secret" not in f"{ours!r} {ours.get_credentials()!r}"


@pytest.mark.parametrize("name", _DECIDES_MORE)
def test_more_variables_are_left_to_botocore(alone: pytest.MonkeyPatch, name: str) -> None:
    alone.setenv(name, "any")

    assert not decides_alone()


def test_keys_that_expire_are_left_to_botocore(alone: pytest.MonkeyPatch) -> None:
    alone.setenv("AWS_CREDENTIAL_EXPIRATION", "2026-11-27T10:00:00Z")

    assert not isinstance(load_session(region="eu-north-1"), EnvironmentSession)


@pytest.mark.parametrize("name", ["config", "credentials"])
def test_files_are_left_to_botocore(alone: pytest.MonkeyPatch, tmp_path: Path, name: str) -> None:
    file = tmp_path / ".aws" / name
    file.parent.mkdir()
    file.touch()

    assert not decides_alone()


@pytest.mark.parametrize("name", ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])
def test_other_sources_of_keys_are_left_to_botocore(alone: pytest.MonkeyPatch, name: str) -> None:
    alone.setenv(name, "")

    assert not decides_alone()


def test_a_client_of_botocore_has_the_keys_of_the_environment(alone: pytest.MonkeyPatch) -> None:
    client = EnvironmentSession("eu-west-3").create_client("s3")

    assert client._request_signer._credentials.access_key == "own-key"
    assert client.meta.region_name == "eu-west-3"
