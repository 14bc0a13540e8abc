"""How Glue is reached: the settings, the region, the role and its credentials."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from penstock import credentials
from penstock.attempts import Attempts
from penstock.errors import RegistryAccessDeniedError, SettingsError
from penstock.registry import GlueRegistry, GlueSettings, load_registry
from tests.stubs.http import serve
from tests.stubs.registries import UNKNOWN
from tests.stubs.sts_api import StsApi

_ROLE = "arn:aws:iam::111122223333:role/registry-reader"


def test_a_denied_role_is_named_with_the_action(monkeypatch: pytest.MonkeyPatch) -> None:
    credentials.forget_sessions()
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "own-key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "own-secret")
    with serve(StsApi(external_id="agreed").respond) as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL_STS", address)
        registry = load_registry(
            f"glue://plant?region=eu-central-1&role_arn={_ROLE}&external_id=guessed"
        )

        with pytest.raises(RegistryAccessDeniedError, match="sts:AssumeRole with Acc") as caught:
            registry.get(UNKNOWN)

    assert _ROLE in str(caught.value)
    assert str(caught.value).endswith(
        ", expected a role that trusts this caller, and the external id that it asks for"
    )
    assert "guessed" not in str(caught.value)
    credentials.forget_sessions()


def test_missing_credentials_are_an_error(
    monkeypatch: pytest.MonkeyPatch, attempts: Callable[..., Attempts]
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nowhere")
    credentials.forget_sessions()
    settings = GlueSettings("plant", "eu-central-1")
    registry = GlueRegistry(settings, attempts=attempts(), pending=attempts())
    credentials.forget_sessions()

    with pytest.raises(RegistryAccessDeniedError, match=r"no credentials for glue://.*: Unable"):
        registry.versions("readings")


def test_a_session_of_sso_that_is_over_is_no_outage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, attempts: Callable[..., Attempts]
) -> None:
    config = tmp_path / "config"
    config.write_text(
        "[profile corp]\nsso_start_url = https://corp.example\nsso_region = eu-central-1\n"
        "sso_account_id = 111122223333\nsso_role_name = reader\n"
    )
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    monkeypatch.setenv("AWS_PROFILE", "corp")
    monkeypatch.setenv("HOME", str(tmp_path))  # where `aws sso login` keeps its token
    credentials.forget_sessions()
    registry = GlueRegistry(GlueSettings("plant", "eu-central-1"), attempts=attempts())
    credentials.forget_sessions()

    with pytest.raises(
        RegistryAccessDeniedError, match=r"no credentials for glue://.*: Error loading SSO Token"
    ):
        registry.versions("readings")


def test_settings_show_no_external_id() -> None:
    settings = GlueSettings("plant", "eu-central-1", _ROLE, "agreed", allow=("plant/a*",))

    assert "agreed" not in repr(settings)
    assert settings.source == (f"glue://plant?region=eu-central-1&role_arn={_ROLE}&allow=plant/a*")


def test_a_missing_region_is_a_settings_error(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nowhere")
    credentials.forget_sessions()

    with pytest.raises(SettingsError, match="glue://plant names no region, expected region="):
        load_registry("glue://plant")
    credentials.forget_sessions()
