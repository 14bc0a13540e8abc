"""Rows of DynamoDB are those that a scan answers."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import boto3
import pytest
from boto3.dynamodb.types import Binary
from moto import mock_aws

from campaign.platform import _list_rows
from campaign.readers import read_letters
from systems.killing import REGION
from systems.tables import make_table

_VALUES = {
    "whole": 2**70,
    "fraction": Decimal("0.5"),
    "nothing": None,
    "list": ["a", {"lat": Decimal("1.5")}],
    "map": {"floor": 3, "tags": ["b"], "raw": b"\3\0"},
    "reason": "truncated",
    "value": b"\3\0junk",
}


@pytest.mark.parametrize("sort", [[], ["part"]])
def test_rows_are_those_of_a_scan(sort: list[str]) -> None:
    with mock_aws():
        session = boto3.Session("any", "any", region_name=REGION)
        table = make_table(session.resource("dynamodb"), "letters", "id", *sort)
        for number in range(6):
            key = {"id": f"sensor/0/{number // 2 if sort else number}/x", "part": f"{number % 2}"}
            table.put_item(Item={**_VALUES, **key, "number": number})

        rows = sorted(_list_rows("123456789012", "letters"), key=_number)

        assert rows == sorted(table.scan()["Items"], key=_number)
        assert len(rows) == 6
        assert rows[0]["value"] == Binary(_VALUES["value"])
        assert read_letters(rows)[0].value == _VALUES["value"]


def _number(row: Any) -> int:
    return int(row["number"])
