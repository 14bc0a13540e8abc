"""A fault counts what it is seen to do: one that did nothing has not happened."""

from __future__ import annotations

import time
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from campaign import faults
from campaign.faults import inject
from campaign.senders import Fields
from localcloud.faults import Faults

_SECRET = "arn:aws:secretsmanager:eu-central-1:111111111111:secret:login"


@pytest.fixture
def platform(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(faults, "_ASK_SECONDS", 0.01)
    monkeypatch.setattr(faults, "_PATIENCE_SECONDS", 0.5)
    set_ = Faults()
    return SimpleNamespace(cloud=SimpleNamespace(state=lambda _: set_), faults=set_)


@pytest.mark.parametrize("fields", [["f0", "f1"], ["f0"]], ids=["there", "never there"])
def test_a_new_field_is_one_that_a_version_has(platform: Any, fields: list[str]) -> None:
    platform.count_versions = fields.count

    assert inject("fields-new", platform, Fields(), {}) == len(fields) - 1


@pytest.mark.parametrize("needed", [2, 9], ids=["compacted", "never compacted"])
def test_a_lake_is_maintained_until_its_files_are_compacted(platform: Any, needed: int) -> None:
    begun: list[list[str]] = []
    platform.count_compactions = lambda: 3 + 2 * (len(begun) == needed)
    platform.world = SimpleNamespace(arguments={"--lake-table": "d.readings"}, launch=begun.append)
    platform.job = SimpleNamespace(run_beside=lambda _: time.sleep(0.2))

    assert inject("lake-maintained", platform, Fields(), {}) == (2 if needed == 2 else 0)
    assert begun[:2] == [["maintain_lake", "--lake-table", "d.readings"]] * 2


def _read_secret(secret: str, error: str) -> str:
    return f'{{"operation": "GetSecretValue", "SecretId": "{secret}", "error": {error}}}\n'


@pytest.mark.parametrize(
    ("line", "times"),
    [
        (_read_secret(_SECRET, "null"), 1),
        (_read_secret(_SECRET, '"ThrottlingException"'), 0),
        (_read_secret("another", "null"), 0),
    ],
    ids=["read", "not answered", "another secret"],
)
def test_a_password_is_replaced_when_a_program_has_read_the_new_one(
    platform: Any, tmp_path: Path, line: str, times: int
) -> None:
    calls, passwords, cuts = tmp_path / "calls.jsonl", [], []
    calls.touch()

    def replace_password(password: str) -> None:
        passwords.append(password)
        calls.write_text(_read_secret(_SECRET, "null"))  # it may have been the old one

    def cut(broker: int, seconds: float) -> int:
        cuts.append((broker, seconds))
        if len(cuts) == 2:
            calls.write_text(calls.read_text() + line)
        return 1

    arguments = {"--secret-arn": _SECRET}
    platform.world = SimpleNamespace(arguments=arguments, replace_password=replace_password)
    platform.cloud.folder, platform.brokers = tmp_path, nullcontext()
    platform.links = SimpleNamespace(cut=cut)

    given = {"broker": 3, "password": "new"}
    assert inject("password-replaced", platform, Fields(), given) == times
    assert (passwords, cuts[:2]) == (["new"], [(3, 0)] * 2)
