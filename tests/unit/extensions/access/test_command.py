"""`penstock access`: aligned rows, JSON, and the exit codes 0, 1 and 2."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Set
from pathlib import Path

import pytest

from penstock.cli import main
from penstock.errors import BrokerError
from penstock.extensions.access import command, operation
from penstock.extensions.access.wanted import Wanted
from penstock.kafka import AccessList, KafkaSettings
from tests.fixtures.commands import read_json

_ENVIRON = {"KAFKA_BOOTSTRAP_SERVERS": "b-1:9098", "AWS_REGION": "eu-central-1"}
_FOUND = {
    AccessList("analytics", "WRITE", "TOPIC", "sensor", host="10.0.1.7"),
    AccessList("analytics", "READ", "TOPIC", "sensor"),
    AccessList("old", "READ", "GROUP", "old-", is_prefix=True, permission="DENY"),
}
_WANTED = [
    {"user": "analytics", "operation": "READ", "topic": "sensor"},
    {"user": "analytics", "operation": "READ", "topic": "orders"},
]


@pytest.fixture
def applied(monkeypatch: pytest.MonkeyPatch) -> list[Mapping[str, Set[AccessList]]]:
    """What was applied; the brokers have the same access lists all the time."""
    calls: list[Mapping[str, Set[AccessList]]] = []
    monkeypatch.setattr(operation, "read_access_lists", lambda _: frozenset(_FOUND))
    monkeypatch.setattr(operation, "apply_access_lists", lambda _, wanted, __: calls.append(wanted))
    return calls


@pytest.fixture
def also(tmp_path: Path) -> str:
    path = tmp_path / "also.json"
    path.write_text(json.dumps(_WANTED))
    return str(path)


@pytest.mark.usefixtures("applied")
def test_all_lists_are_printed_in_columns(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["access", "list"], _ENVIRON) == 0

    assert capsys.readouterr().out.splitlines() == [
        "   USER       OPERATION  RESOURCE              HOST",
        "   analytics  READ       topic sensor          *",
        "   analytics  WRITE      topic sensor          10.0.1.7",
        "   old        DENY READ  group old- by prefix  *",
        "access lists: 3, users: 2",
    ]


def test_a_plan_with_changes_ends_with_2(
    applied: list[Mapping[str, Set[AccessList]]], also: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["access", "plan", "--also", also], _ENVIRON) == 2

    assert capsys.readouterr().out.splitlines() == [
        "   USER       OPERATION  RESOURCE              HOST",
        "+  analytics  READ       topic orders          *",
        "=  analytics  READ       topic sensor          *",
        "-  analytics  WRITE      topic sensor          10.0.1.7",
        "?  old        DENY READ  group old- by prefix  *",
        "to create 1, to delete 1, kept 1, of users that are not named 1",
    ]
    assert applied == []


def test_an_apply_changes_the_named_users_and_ends_with_0(
    applied: list[Mapping[str, Set[AccessList]]], also: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["access", "apply", "--also", also], _ENVIRON) == 0

    assert capsys.readouterr().out.splitlines()[-1] == (
        "created 1, deleted 1, kept 1, of users that are not named 1"
    )
    assert applied == [
        {"analytics": {AccessList("analytics", "READ", "TOPIC", each["topic"]) for each in _WANTED}}
    ]


@pytest.mark.usefixtures("applied")
@pytest.mark.parametrize(
    ("error", "code"), [(BrokerError("the broker refuses"), 1), (KeyboardInterrupt(), 130)]
)
def test_an_apply_that_ends_early_says_what_it_did(
    also: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
    code: int,
) -> None:
    def apply(_: object, wanted: Wanted, report: Callable[[AccessList], None]) -> None:
        report(AccessList("analytics", "READ", "TOPIC", "orders"))
        raise error

    monkeypatch.setattr(operation, "apply_access_lists", apply)

    assert main(["access", "apply", "--also", also], _ENVIRON) == code
    assert capsys.readouterr().out.splitlines()[1:] == [
        "+  analytics  READ       topic orders          *",
        "=  analytics  READ       topic sensor          *",
        "?  old        DENY READ  group old- by prefix  *",
        "created 1, deleted 0, kept 1, of users that are not named 1",
    ]


def test_no_change_ends_with_0_and_applies_nothing(
    applied: list[Mapping[str, Set[AccessList]]],
    also: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    same = frozenset(AccessList("analytics", "READ", "TOPIC", each["topic"]) for each in _WANTED)
    monkeypatch.setattr(operation, "read_access_lists", lambda _: same)

    assert main(["access", "plan", "--also", also], _ENVIRON) == 0
    assert main(["access", "apply", "--also", also], _ENVIRON) == 0
    assert applied == []


@pytest.mark.usefixtures("applied")
def test_a_refused_plan_and_wrong_settings_end_with_1(
    also: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(also).write_text(json.dumps([{"user": "old", "operation": "READ", "topic": "t"}]))

    for words in (["access", "plan", "--also", also], ["access", "apply", "--also", also]):
        assert main(words, _ENVIRON) == 1
        assert "penstock: found User:old DENY READ on group old- by prefix" in (
            capsys.readouterr().err
        )
    assert main(["access", "list"], {}) == 1
    assert "KAFKA_BOOTSTRAP_SERVERS" in capsys.readouterr().err


@pytest.mark.usefixtures("applied")
@pytest.mark.parametrize(("words", "code"), [("plan", 2), ("apply", 0), ("list", 0)])
def test_json_has_the_same(
    words: str, code: int, also: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["--also", also] if words != "list" else []

    assert main(["access", words, *given, "--output", "json"], _ENVIRON) == code

    (told,) = read_json(f"access {words}", capsys.readouterr().out)
    lists = told.get("accessLists") or told["create"] + told["delete"] + told["keep"]
    assert {each["name"] for each in lists} >= {"sensor"}


def test_the_root_is_read_if_nothing_else_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    roots: list[Path | None] = []

    def read(root: Path | None, contracts: list[Path], own: list[Path]) -> dict[str, object]:
        roots.append(root)
        return {}

    def plan(settings: KafkaSettings, wanted: object) -> operation.AccessPlan:
        return operation.AccessPlan((), (), (), ())

    monkeypatch.setattr(command, "read_wanted", read)
    monkeypatch.setattr(command, "plan_change", plan)
    for words in ([], ["--contract", "c.json"], ["--also", "a.json", "--producer", "p"]):
        assert main(["access", "plan", *words], _ENVIRON) == 0

    assert roots == [Path("infra/producer"), None, Path("p")]
