"""The demo writes a profile for each account, which finds AWS's keys and the root."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from botocore.session import Session

from demo import profiles
from penstock.cli.profiles import find_profile


@dataclass
class _Local:
    folder: Path
    endpoint: str = "http://127.0.0.1:4566"


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


def test_a_profile_names_the_keys_and_the_root_of_its_account(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    local = _Local(tmp_path / ".localcloud")
    local.folder.mkdir()
    producer = _Account("producer", "111111111111", local, {"producer": {"PENSTOCK_TOPIC": "a"}})
    consumer = _Account("consumer", "222222222222", local, {"analytics": {}})
    monkeypatch.setattr(profiles, "ROOT", tmp_path)
    monkeypatch.setattr(profiles, "_FILE", tmp_path / "penstock.toml")

    profiles.write_demo_profiles(producer, consumer)  # type: ignore[arg-type]

    first = find_profile([], {}, tmp_path)
    other = find_profile(["--profile", "analytics"], {}, tmp_path)
    assert (first.name, first.values["PENSTOCK_TOPIC"]) == ("producer", "a")
    assert other.values["PENSTOCK_CONSUMER_ROOT"] == str(consumer.folder)
    monkeypatch.setenv("AWS_CONFIG_FILE", other.values["AWS_CONFIG_FILE"])
    monkeypatch.delenv("AWS_ACCESS_KEY_ID", raising=False)
    session = Session(profile=other.values["AWS_PROFILE"])
    credentials = session.get_credentials()
    assert credentials is not None
    assert credentials.access_key == "222222222222"
    assert session.get_scoped_config()["endpoint_url"] == local.endpoint
