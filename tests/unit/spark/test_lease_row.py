"""The row of a lease: what DynamoDB leaves unread is no row that is missing."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from penstock.attempts import Attempts
from penstock.spark.state import lease


class _Client:
    """A client of DynamoDB that leaves the key unread at first."""

    attempts = Attempts(0, 0, 10, sleep=lambda _: None)

    def __init__(self) -> None:
        self.unread = 2

    def call(self, operation: str, body: Callable[[], bytes], read: Any = dict) -> Any:
        wanted = json.loads(body())["RequestItems"]
        self.unread -= 1
        if self.unread >= 0:
            return read({"Responses": {}, "UnprocessedKeys": wanted})
        (key,) = wanted["errors"]["Keys"]
        row = {**key, "holder": {"S": "me"}, "fence": {"N": "7"}}
        return read({"Responses": {"errors": [row]}})


def test_a_row_that_is_left_unread_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "DynamoDbClient", _Client)

    row = lease.LeaseRow("errors", "job", "me").read()

    assert (row["holder"], int(row["fence"])) == ("me", 7)
