"""A fault counts what it is seen to do: one that did nothing has not happened."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from campaign import faults
from campaign.faults import inject
from campaign.senders import Fields
from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, HttpAnswer

_ANSWER = HttpAnswer(200, (), b"")
_SECRET = "arn:aws:secretsmanager:eu-central-1:111111111111:secret:login"


@pytest.mark.parametrize("fields", [["f0", "f1"], ["f0"]], ids=["there", "never there"])
def test_a_new_field_is_one_that_a_version_has(platform: Any, fields: list[str]) -> None:
    platform.count_versions = fields.count

    assert inject("fields-new", platform, Fields(), {}) == len(fields) - 1


@pytest.mark.parametrize("needed", [2, 9], ids=["compacted", "never compacted"])
def test_a_lake_is_maintained_until_its_files_are_compacted(platform: Any, needed: int) -> None:
    begun: list[list[str]] = []
    platform.count_compactions = lambda: 3 + 2 * (len(begun) == needed)
    platform.world = SimpleNamespace(arguments={"--lake-table": "d.readings"}, launch=begun.append)
    platform.job = SimpleNamespace(run_beside=lambda _: not time.sleep(0.2))

    assert inject("lake-maintained", platform, Fields(), {}) == (2 if needed == 2 else 0)
    assert begun[:2] == [["maintain_lake", "--lake-table", "d.readings"]] * 2


def test_maintenance_that_does_not_end_is_told(platform: Any) -> None:
    platform.count_compactions = lambda: 0
    platform.world = SimpleNamespace(arguments={"--lake-table": "d.readings"}, launch=list)
    platform.job = SimpleNamespace(run_beside=lambda _: False)

    with pytest.raises(TimeoutError, match="did not end"):
        inject("lake-maintained", platform, Fields(), {})


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


class _Registry(Fields):
    """A registry that is asked at once, as fields are new; other calls come between."""

    def __init__(self, platform: Any, *operations: str) -> None:
        super().__init__()
        self._set, self._operations = platform.faults, operations
        self.answered: list[str] = []
        platform.count_versions = lambda _: 1

    def grow(self) -> str:
        for operation in self._operations:
            given: Any = (None, None, operation.partition(":")[0], operation.partition(":")[2], {})
            call = Call(*given, lambda: _ANSWER)
            try:
                self._set.around(call, call.forward)
            except AwsError as error:
                assert error.status == 500
            else:
                self.answered.append(operation)
        return super().grow()


def test_a_registry_that_is_down_answers_nobody(platform: Any) -> None:
    asked = "glue:GetSchemaVersion", "glue:UpdateTable", "glue:ListRegistries", "s3:GetObject"
    fields = _Registry(platform, *asked)

    assert inject("registry-down", platform, fields, {"seconds": 0.0}) == 2
    # The first field comes before the outage; then only calls of other services are answered.
    assert fields.answered == [*asked, asked[1], asked[3]]


def test_a_registry_that_nobody_asks_was_not_down(platform: Any) -> None:
    fields = _Registry(platform, "glue:UpdateTable")

    assert inject("registry-down", platform, fields, {"seconds": 0.0}) == 0


class _Member:
    """A member that gets some partitions when it asks again."""

    def __init__(self, shared: int) -> None:
        self._taken = [4, 4, shared]

    def poll(self, _: int) -> None:
        self._taken = self._taken[1:] or self._taken

    def assignment(self) -> set[int]:
        return set(range(self._taken[0]))

    def partitions_for_topic(self, topic: str) -> set[int]:
        assert topic == "sensor"
        return set(range(4))


@pytest.mark.parametrize(("shared", "times"), [(2, 2), (4, 0)], ids=["both", "nobody else"])
def test_a_group_rebalances_if_two_members_share_its_partitions(
    platform: Any, monkeypatch: pytest.MonkeyPatch, shared: int, times: int
) -> None:
    joined: list[str] = []

    @contextmanager
    def second_member(topic: Any, group: str, seconds: float) -> Iterator[_Member]:
        yield _Member(shared)
        joined.append(f"{group} of {topic.name}")

    monkeypatch.setattr(faults, "second_member", second_member)
    platform.world = SimpleNamespace(kafka=SimpleNamespace(cluster=None))
    platform.mapping = "its mapping"

    assert inject("group-rebalanced", platform, Fields(), {"seconds": 0.0}) == times
    assert joined == ["its mapping of sensor"]
