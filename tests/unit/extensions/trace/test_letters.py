"""The dead letter of a record that Kafka no longer has is found by its place."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

from penstock.errors import Failure, Reason
from penstock.extensions.trace.letters import find_letters
from penstock.operations import dead_letters
from penstock.records import FailedRecord, Record, Source
from penstock.sinks import ErrorTable
from tests.stubs.dynamodb_tables import DynamoDbTables


def test_only_the_dead_letters_at_the_place_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = DynamoDbTables({"p-errors": ("id",)})
    monkeypatch.setattr(dead_letters, "open_database", lambda: tables)
    failure = Failure(Reason.TRUNCATED, "cut off")
    ErrorTable(tables, "p-errors", Mock()).keep_rows(
        [
            FailedRecord(
                Record(Source("t", 0, offset), None, b"v", (), 7), failure, None, "spark", 7
            )
            for offset in range(1_000)
        ]
    )
    tables.calls.clear()

    (found,) = find_letters("p-errors", "", Source("t", 0, 7), "", "p-errors")

    assert found.values["id"] == "t/0/7/7/spark"
    assert tables.calls == {"Query": 3, "BatchGetItem": 1}
