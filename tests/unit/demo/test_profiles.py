"""The demo writes a profile for each account, which finds AWS's keys and the root."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from botocore.session import Session

from demo import profiles
from penstock.cli.profiles import find_profile, read_profiles, write_profiles

_ENDPOINT = "http://127.0.0.1:4566"


@dataclass
class _Local:
    folder: Path
    endpoint: str = _ENDPOINT


@dataclass
class _Account:
    root: str
    id: str
    local: _Local
    settings: dict[str, dict[str, str]]

    @property
    def folder(self) -> Path:
        return self.local.folder / "terraform" / self.root

    def outputs(self) -> dict[str, Any]:
        return {"profiles": self.settings}


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of a clone with both demo profiles."""
    local = _Local(tmp_path / ".localcloud")
    local.folder.mkdir()
    monkeypatch.setattr(profiles, "FILE", tmp_path / "penstock.toml")
    producer = _Account("producer", "111111111111", local, {"producer": {"PENSTOCK_TOPIC": "a"}})
    consumer = _Account("consumer", "222222222222", local, {"analytics": {}})
    profiles.write_demo_profiles(producer, consumer, profiles.FILE)  # type: ignore[arg-type]
    return tmp_path / "penstock.toml"


def test_a_profile_names_the_keys_and_the_root_of_its_account(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = find_profile([], {}, file.parent)
    other = find_profile(["--profile", "analytics"], {}, file.parent)

    assert (first.name, first.values["PENSTOCK_TOPIC"]) == ("producer", "a")
    root = file.parent / ".localcloud/terraform/consumer"
    assert other.values["PENSTOCK_CONSUMER_ROOT"] == str(root)
    monkeypatch.setenv("AWS_CONFIG_FILE", other.values["AWS_CONFIG_FILE"])
    monkeypatch.delenv("AWS_ACCESS_KEY_ID", raising=False)
    session = Session(profile=other.values["AWS_PROFILE"])
    credentials = session.get_credentials()
    assert credentials is not None
    assert credentials.access_key == "222222222222"
    assert session.get_scoped_config()["endpoint_url"] == _ENDPOINT


def test_the_console_asks_brokers_from_a_host_of_each_account(file: Path) -> None:
    hosts = {
        name: shlex.split(values["PENSTOCK_HOST_COMMAND"])
        for name, values in read_profiles(file).items()
    }

    assert {name: words[-6] for name, words in hosts.items()} == {
        "producer": "penstock-client-shell",
        "analytics": "penstock-analytics-client-shell",
    }
    for words in hosts.values():
        assert words[:3] == [sys.executable, "-m", "localcloud"]
        assert words[3:7] == ["--folder", str(file.parent / ".localcloud"), "run", "--as"]
        on_hosts = file.parent / ".localcloud/penstock.toml"
        assert words[-5:] == ["--", "env", f"PENSTOCK_CONFIG={on_hosts}", "sh", "-c"]
        found = read_profiles(on_hosts)
        assert found.keys() == hosts.keys()
        assert not any("AWS_PROFILE" in values for values in found.values())


def test_the_profiles_of_the_demo_go_with_it(file: Path) -> None:
    profiles.drop_demo_profiles()
    assert not file.exists()
    profiles.drop_demo_profiles()  # there is nothing to drop any more


def test_the_profiles_of_others_stay(file: Path) -> None:
    write_profiles(file, {"billing": {"AWS_REGION": "eu-west-3"}})

    profiles.drop_demo_profiles()

    assert read_profiles(file) == {"billing": {"AWS_REGION": "eu-west-3"}}
    assert find_profile([], {}, file.parent).name == "billing"
