"""A service is where botocore says that it is, whatever the environment."""

from __future__ import annotations

from pathlib import Path

import pytest
from botocore.exceptions import InvalidRegionError, NoRegionError
from botocore.session import Session

from penstock.aws._address import find_address

_REGIONS = ("eu-central-1", "cn-north-1", "us-gov-west-1", "us-iso-east-1", "eu-nowhere-7")
_VARIABLES = {
    "usual": {},
    "for all": {"AWS_ENDPOINT_URL": "http://127.0.0.1:4566"},
    "for one": {
        "AWS_ENDPOINT_URL": "http://127.0.0.1:4566",
        "AWS_ENDPOINT_URL_GLUE": "http://127.0.0.1:4567",
    },
    "empty": {"AWS_ENDPOINT_URL": ""},
    "ignored": {
        "AWS_ENDPOINT_URL": "http://127.0.0.1:4566",
        "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true",
    },
    "fips": {"AWS_USE_FIPS_ENDPOINT": "true"},
    "dual stack": {"AWS_USE_DUALSTACK_ENDPOINT": "true"},
}


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nowhere")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)


def _session(region: str | None) -> Session:
    session = Session()
    if region:
        session.set_config_variable("region", region)
    return session


def _botocores(region: str, service: str) -> tuple[str, str]:
    client = _session(region).create_client(service)  # type: ignore[call-overload]
    client.close()
    return client.meta.endpoint_url, region


@pytest.mark.parametrize("region", _REGIONS)
@pytest.mark.parametrize("service", ["dynamodb", "glue"])
def test_an_address_is_botocores_in_every_partition(region: str, service: str) -> None:
    assert find_address(_session(region), service) == _botocores(region, service)


@pytest.mark.parametrize("variables", _VARIABLES.values(), ids=_VARIABLES)
def test_an_address_is_botocores_whatever_is_set(
    variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    assert find_address(_session("us-east-1"), "glue") == _botocores("us-east-1", "glue")


def test_an_address_is_botocores_with_a_configuration_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "config"
    file.write_text(
        "[default]\nservices = mine\n[services mine]\nglue =\n  endpoint_url = http://10.0.0.9:1\n"
    )
    monkeypatch.setenv("AWS_CONFIG_FILE", str(file))

    assert find_address(_session("us-east-1"), "glue") == ("http://10.0.0.9:1", "us-east-1")


def test_a_given_address_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:4566")
    session = _session("us-east-1")

    assert find_address(session, "glue", "http://localhost:1") == (
        "http://localhost:1",
        "us-east-1",
    )


def test_an_invalid_region_or_endpoint_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)

    with pytest.raises(NoRegionError, match=r"^found no region, expected AWS_REGION$"):
        find_address(_session(None), "glue")
    with pytest.raises(InvalidRegionError, match="doesn't match a supported format"):
        find_address(_session("not a region"), "glue")
    with pytest.raises(ValueError, match="Invalid endpoint: nowhere"):
        find_address(_session("us-east-1"), "glue", "nowhere")
