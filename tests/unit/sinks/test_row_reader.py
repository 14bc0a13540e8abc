"""Rows are read by key, however long the answers of DynamoDB are as JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from penstock.aws import connection
from penstock.errors import SinkUnavailableError
from penstock.sinks import DynamoDbClient, RowAddress, read_rows
from tests.stubs.clock import FakeTime
from tests.stubs.dynamodb_api import DynamoDbApi, Reply

# As DynamoDB counts, a boolean in a list takes 2 bytes; in JSON it takes 14 characters.
_FLAGS = [{"BOOL": True}] * 50
_LONGEST = 30 * 51 * 14  # the answer with 30 such rows, at most


def _answer(request: dict[str, Any], most: int = 100) -> Reply:
    """Answer with rows of flags, and leave what is beyond this many of them unprocessed."""
    (name, asked), *_ = request["RequestItems"].items()
    keys = asked["Keys"]
    rows = [{**key, "flags": {"L": _FLAGS}} for key in keys[:most]]
    left = {name: {"Keys": keys[most:]}} if keys[most:] else {}
    return Reply(body=json.dumps({"Responses": {name: rows}, "UnprocessedKeys": left}).encode())


def _ids(request: dict[str, Any]) -> list[int]:
    return [int(key["id"]["S"]) for key in request["RequestItems"]["t"]["Keys"]]


@pytest.fixture
def addresses(monkeypatch: pytest.MonkeyPatch) -> list[RowAddress]:
    """The addresses of a hundred rows, whose answer is too long to be read."""
    monkeypatch.setattr(connection, "_MAX_CONTENT", _LONGEST)
    return [RowAddress.of("t", {"id": str(number)}) for number in range(100)]


def test_rows_whose_answer_is_too_long_are_asked_for_again_fewer_at_once(
    api: DynamoDbApi, dynamodb: DynamoDbClient, addresses: list[RowAddress]
) -> None:
    api.otherwise = _answer

    rows = read_rows(dynamodb, addresses)

    assert list(rows) == addresses
    assert all(row["flags"] == [True] * 50 for row in rows.values())
    assert list(map(_ids, api.requests)) == [
        list(range(100)),
        list(range(50)),
        *(list(range(start, start + 25)) for start in (0, 25, 50, 75)),
    ]


def test_rows_that_an_answer_leaves_are_asked_for_with_the_others(
    api: DynamoDbApi, dynamodb: DynamoDbClient, addresses: list[RowAddress], time: FakeTime
) -> None:
    api.otherwise = lambda request: _answer(request, most=10)

    assert read_rows(dynamodb, addresses).keys() == set(addresses)
    assert [len(_ids(request)) for request in api.requests] == list(range(100, 0, -10))


def test_one_row_whose_answer_is_too_long_is_unavailable(
    api: DynamoDbApi, dynamodb: DynamoDbClient, addresses: list[RowAddress]
) -> None:
    api.otherwise = lambda _: Reply(headers={"Content-Length": str(_LONGEST + 1)})

    with pytest.raises(SinkUnavailableError, match="found an answer of length '21421', expected"):
        read_rows(dynamodb, addresses)

    assert list(map(_ids, api.requests[-2:])) == [[0], [0]]
