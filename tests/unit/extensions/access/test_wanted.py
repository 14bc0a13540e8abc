"""The wanted access lists: of contracts, and of files, whose mistakes get a sentence."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import OperationError
from penstock.extensions.access import wanted as module
from penstock.extensions.access.wanted import read_wanted
from penstock.kafka import AccessList, Reader

_CONTRACT = {
    "group_prefix": "analytics-",
    "programs": {
        "audit": {
            "group_prefix": "analytics-audit-",
            "topics": [],
            "transactions": False,
            "usernames": [],
            "writes": [],
        },
        "jobs": {
            "group_prefix": "analytics-jobs-",
            "topics": ["sensor"],
            "transactions": False,
            "usernames": ["analytics"],
            "writes": ["sums"],
        },
    },
}
_SEEN = ("analytics-audit-", "analytics-jobs-")
_LISTS = Reader("analytics", ("sensor",), "analytics-jobs-", ("sums",), False, _SEEN).access_lists


def _write(folder: Path, value: Any) -> Path:
    path = folder / "given.json"
    path.write_text(json.dumps(value))
    return path


def test_a_contract_is_what_the_access_function_applies(tmp_path: Path) -> None:
    assert {str(each) for each in _LISTS} == {
        "User:analytics ALLOW READ on topic sensor",
        "User:analytics ALLOW WRITE on topic sums",
        "User:analytics ALLOW READ on group analytics-jobs- by prefix",
        "User:analytics ALLOW DESCRIBE on group analytics-audit- by prefix",
        "User:analytics ALLOW DESCRIBE on group analytics-jobs- by prefix",
        "User:analytics ALLOW DESCRIBE_CONFIGS on cluster kafka-cluster",
    }
    path = _write(tmp_path, {"contract": _CONTRACT})
    assert read_wanted(None, [path], []) == {"analytics": _LISTS}


def test_both_users_of_a_program_have_its_lists(tmp_path: Path) -> None:
    users = ("analytics_audit_a", "analytics_audit_b")
    program = _CONTRACT["programs"]["jobs"] | {"transactions": True, "usernames": list(users)}
    path = _write(tmp_path, {"contract": _CONTRACT | {"programs": {"audit": program}}})

    wanted = read_wanted(None, [path], [])

    assert set(wanted) == set(users)
    assert {str(each) for each in wanted[users[1]]} == {
        "User:analytics_audit_b ALLOW READ on topic sensor",
        "User:analytics_audit_b ALLOW WRITE on topic sums",
        "User:analytics_audit_b ALLOW READ on group analytics-jobs- by prefix",
        "User:analytics_audit_b ALLOW DESCRIBE on group analytics-jobs- by prefix",
        "User:analytics_audit_b ALLOW WRITE on transactional_id analytics-jobs- by prefix",
        "User:analytics_audit_b ALLOW DESCRIBE_CONFIGS on cluster kafka-cluster",
    }


def test_the_contracts_of_the_root_are_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "read_contracts", lambda _: {"analytics": _CONTRACT})

    assert read_wanted(Path("infra/producer"), [], []) == {"analytics": _LISTS}


def test_lists_of_a_file_are_added_to_those_of_contracts(tmp_path: Path) -> None:
    contract = tmp_path / "contract.json"
    contract.write_text(json.dumps({"contract": _CONTRACT}))
    own = _write(
        tmp_path,
        [
            {"user": "analytics", "operation": "READ", "topic": "orders"},
            {"user": "a", "operation": "READ", "group": "a-", "prefix": True},
            {"user": "a", "operation": "WRITE", "transactional_id": "a", "host": "10.0.1.7"},
            {"user": "a", "operation": "ALTER", "cluster": True, "permission": "ALLOW"},
        ],
    )

    assert read_wanted(None, [contract], [own]) == {
        "analytics": _LISTS | {AccessList("analytics", "READ", "TOPIC", "orders")},
        "a": {
            AccessList("a", "READ", "GROUP", "a-", is_prefix=True),
            AccessList("a", "WRITE", "TRANSACTIONAL_ID", "a", host="10.0.1.7"),
            AccessList("a", "ALTER", "CLUSTER", "kafka-cluster"),
        },
    }


def test_a_user_whose_lists_differ_between_contracts_is_refused(tmp_path: Path) -> None:
    one, same, other = (tmp_path / name for name in ("one.json", "same.json", "other.json"))
    program = _CONTRACT["programs"]["jobs"] | {"topics": ["orders"]}
    for path in (one, same):
        path.write_text(json.dumps({"contract": _CONTRACT}))
    other.write_text(json.dumps({"contract": _CONTRACT | {"programs": {"jobs": program}}}))

    assert read_wanted(None, [one, same], []) == {"analytics": _LISTS}
    with pytest.raises(OperationError) as caught:
        read_wanted(None, [one, other], [])
    assert str(caught.value) == (
        f"the user analytics has other access lists in {other} than in {one}, expected the same: "
        "an apply would delete those of one"
    )


_GOOD = {"user": "a", "operation": "READ", "topic": "t"}


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        ("text", "found 'text', expected an object with user, operation and resource"),
        (_GOOD | {"users": "b"}, "found users, expected only cluster, group, host, operation, per"),
        (_GOOD | {"permission": "DENY"}, "permission is 'DENY', expected ALLOW: a deny rule is st"),
        (_GOOD | {"group": "g"}, "found topic and group, expected one of topic, group, transactio"),
        ({"user": "a", "operation": "READ"}, "found no resource, expected one of topic, group, tr"),
        (_GOOD | {"operation": "read"}, "operation is 'read', expected one of ALL, READ, WRITE, C"),
        (
            {"user": "a", "operation": "WRITE", "group": "g"},
            "operation is 'WRITE', expected one of ALL, READ, DELETE, DESCRIBE, DESCRIBE_CONFIGS,",
        ),
        (_GOOD | {"user": ""}, "user is '', expected text"),
        (_GOOD | {"topic": 7}, "topic is 7, expected text"),
        (_GOOD | {"host": None}, "host is None, expected text"),
        (_GOOD | {"prefix": "yes"}, "prefix is 'yes', expected true or false, and none for the cl"),
        (
            {"user": "a", "operation": "ALTER", "cluster": True, "prefix": True},
            "prefix is True, expected true or false, and none for the cluster",
        ),
        ({"user": "a", "operation": "ALTER", "cluster": "c"}, "cluster is 'c', expected true"),
    ],
)
def test_a_wrong_entry_is_a_sentence_with_its_number(
    entry: Any, sentence: str, tmp_path: Path
) -> None:
    path = _write(tmp_path, [_GOOD, entry])

    with pytest.raises(OperationError, match=f"^{re.escape(f'{path}, entry 2: {sentence}')}"):
        read_wanted(None, [], [path])


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({}, "found no `contract`"),
        ({"contract": None}, "a value in it has another type or form"),
        ([], "a value in it has another type or form"),
        ({"contract": {"topics": []}}, "found no `programs`"),
    ],
    ids=repr,
)
def test_what_is_no_contract_is_refused(value: Any, problem: str, tmp_path: Path) -> None:
    path = _write(tmp_path, value)

    with pytest.raises(OperationError) as caught:
        read_wanted(None, [path], [])
    assert str(caught.value) == (
        f"{path} cannot be used, expected what `penstock contract` writes: {problem}"
    )


def test_a_file_that_is_no_list_or_no_json_is_refused(tmp_path: Path) -> None:
    path = _write(tmp_path, {})
    with pytest.raises(
        OperationError, match=r"given\.json is no list, expected a list of objects$"
    ):
        read_wanted(None, [], [path])

    path.write_text("[")
    with pytest.raises(OperationError, match=r"is not JSON: "):
        read_wanted(None, [], [path])
