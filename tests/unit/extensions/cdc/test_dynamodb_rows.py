"""Rows of captured tables as items of DynamoDB: their keys, and the names of their attributes."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any
from unittest.mock import Mock

import pytest
from pyspark.sql import Row

from penstock.errors import RowTooLargeError, SinkRefusedError
from penstock.extensions.cdc.spark import dynamodb
from penstock.extensions.cdc.spark.dynamodb import (
    _WriteRows,
    delete_before,
    name_attribute,
    write_changes,
)
from penstock.extensions.cdc.spark.items import ItemChange
from penstock.extensions.cdc.spark.net import Moment


def _read(key: tuple[str, ...], *values: Any) -> dict[str, Any]:
    row = Row("event", "_deleted", "_lsn", "_offset")(Row(*key)(*values), False, 1, 1)
    task = _WriteRows("app", key, {each: each for each in key}, (), 1)
    return dict(task._read_change(row).item)


@pytest.mark.parametrize("value", ["", True, 1.5, Decimal("1.5"), bytearray(b"ab"), "x" * 2_049])
def test_a_key_that_dynamodb_cannot_hold_is_named(value: Any) -> None:
    assert [_read(("id",), each)["id"] for each in (7, Decimal("7.00"))] == ["7", "7"]
    with pytest.raises(SinkRefusedError, match=r"^the primary key of a row of app: "):
        _read(("id",), value)


@pytest.mark.parametrize(("text", "said"), [("x" * 500_000, "found"), ("x", "Item")])
def test_a_row_that_dynamodb_cannot_hold_is_named(
    text: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = Mock()
    client.call_each.return_value = [RowTooLargeError("Item size has exceeded")]
    monkeypatch.setattr(dynamodb, "open_client", lambda: client)

    with pytest.raises(RowTooLargeError, match=rf"^the row of app with id '7': {said}"):
        write_changes("app", "id", [ItemChange({"id": "7", "text": text}, 1, 1, {})])


def test_columns_with_names_of_our_attributes_have_others() -> None:
    own = ("_lsn", "_offset", "_key", "_deleted", "_expiresAt", "_older_lsn")

    assert [name_attribute(each) for each in own] == [f"event{each}" for each in own]
    assert [name_attribute(each) for each in ("_id", "deleted")] == ["_id", "deleted"]


def test_rows_that_were_just_written_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = {"Table": {"KeySchema": [{"AttributeName": "id"}]}}
    client = Mock()
    client.call.side_effect = [schema, {"Items": []}]
    client.call_each.return_value = []
    monkeypatch.setattr(dynamodb, "open_client", lambda: client)

    delete_before("app", Moment(7, 7, 0, 1), 1)

    (_, asked), _ = client.call.call_args
    assert json.loads(asked)["ConsistentRead"] is True
