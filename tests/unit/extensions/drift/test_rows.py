"""Rows of DynamoDB are compared with the events of all versions."""

from __future__ import annotations

import secrets
from typing import Any

import pytest

from penstock.errors import OperationError
from penstock.extensions.drift._clients import Clients
from penstock.extensions.drift._rows import compare_rows
from penstock.extensions.drift.inspection import Limits, TableTarget, inspect_tables
from penstock.schemas import merge_schemas
from penstock.tables import read_event
from systems.tables import make_table
from tests.fixtures.lakes import Lake, lake

__all__ = ["lake"]

_ITEM = {"type": "record", "name": "i", "fields": [{"name": "x", "type": "boolean"}]}
_OWN = {"type": "record", "name": "o", "fields": [{"name": "member_id", "type": "string"}]}
_EVENT = read_event(
    merge_schemas(
        [
            {
                "type": "record",
                "name": "e",
                "fields": [
                    {"name": "n", "type": "int"},
                    {"name": "big", "type": "long"},
                    {"name": "d", "type": ["null", "double"], "default": None},
                    {"name": "s", "type": "string"},
                    {"name": "l", "type": {"type": "array", "items": ["null", _ITEM]}},
                    {"name": "m", "type": {"type": "map", "values": "string"}},
                    {"name": "u", "type": ["string", "i"]},
                    {"name": "own", "type": _OWN},
                    {"name": "day", "type": {"type": "int", "logicalType": "date"}},
                    {
                        "name": "p",
                        "type": {"type": "bytes", "logicalType": "decimal", "precision": 4},
                    },
                    {"name": "event_x002d_time", "type": "long", "jsonName": "event-time"},
                    {"name": "ours", "type": "long", "jsonName": "theirs"},
                ],
            }
        ]
    )
)
_GOOD: dict[str, Any] = {
    "n": {"N": "1"},
    "d": {"N": "1.5"},
    "s": {"S": "x"},
    "l": {"L": [{"M": {"x": {"BOOL": True}}}, {"NULL": True}]},
    "m": {"M": {"k": {"S": "v"}}},
    "u": {"M": {"x": {"BOOL": False}}},
    "day": {"N": "1"},
    "p": {"N": "1"},
    "event-time": {"N": "1"},
    "theirs": {"N": "1"},
    "_topic": {"S": "t"},
    "key": {"S": "k"},
}


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (_GOOD, []),
        ({"n": {"S": "1"}}, [("n", "string", "int")]),
        ({"n": {"N": "1.5"}}, [("n", "number with a fraction", "int")]),
        ({"n": {"N": "2147483648"}}, [("n", "number beyond int", "int")]),
        ({"big": {"N": "9223372036854775808"}}, [("big", "number beyond bigint", "bigint")]),
        ({"l": {"L": [{"M": {"x": {"N": "1"}, "y": {"S": ""}}}]}}, [
            ("l.element.x", "number", "boolean"), ("l.element.y", "string", "no field")]),
        ({"l": {"M": {}}}, [("l", "map", "array<struct<x:boolean>>")]),
        ({"m": {"M": {"k": {"N": "1"}}}}, [("m.value", "number", "string")]),
        ({"u": {"N": "1"}}, [
            ("u", "number", "struct<member_i:struct<x:boolean>,member_string:string>")]),
        ({"u": {"S": "x"}}, []),
        ({"own": {"M": {"member_id": {"S": "x"}}}}, []),
        ({"own": {"M": {"member_id": {"N": "1"}}}}, [("own", "map", "struct<member_id:string>")]),
        ({"other": {"SS": ["a"]}}, [("other", "SS", "no field")]),
        ({"_event": {"M": {"key": {"N": "1"}}}}, [("key", "number", "no field")]),
    ],
)  # fmt: skip
def test_values_of_rows(row: dict[str, Any], expected: list[tuple[str, str, str]]) -> None:
    found = compare_rows("dynamodb t", [row, row], _EVENT, ["key"])

    assert [(each.column, each.found, each.expected) for each in found] == expected
    assert {each.count for each in found} <= {2}


def test_a_sample_of_a_table_is_read(lake: Lake, client: Any) -> None:
    name = f"readings-{secrets.token_hex(4)}"
    dynamodb = client("dynamodb")
    make_table(dynamodb, name, "key")
    for at in range(6):
        deleted = {"_deleted": {"BOOL": True}} if at == 0 else {}
        item = {"key": {"S": str(at)}, "n": {"S": "x"}, **deleted}
        dynamodb.put_item(TableName=name, Item=item)
    clients = Clients()
    target = TableTarget(_EVENT, dynamodb=(name,))

    (found,) = inspect_tables([target], Limits(rows=100), clients).differences
    (few,) = inspect_tables([target], Limits(rows=2)).differences

    assert (found.place, found.column, found.count) == (f"dynamodb {name}", "n", 5)
    assert few.count == 2
    assert clients.calls == {"DescribeTable": 1, "Scan": 1}
    with pytest.raises(OperationError, match=r"DynamoDB table none cannot be read: "):
        inspect_tables([TableTarget(_EVENT, dynamodb=("none",))])
