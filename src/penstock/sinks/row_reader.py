"""Rows of tables, read by key, 100 at a time, or by a query, in pages."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from penstock.errors import SinkUnavailableError
from penstock.sinks.dynamodb_client import DynamoDbClient
from penstock.sinks.item_json import read_item

ROWS_AT_ONCE: Final = 100  # DynamoDB reads no more in one request


class RowAddress(NamedTuple):
    """The table of a row, and its key attributes, all of them strings."""

    table: str
    key: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, table: str, key: Mapping[str, str]) -> RowAddress:
        """Return the address of the row with a key."""
        return cls(table, tuple(sorted(key.items())))


def read_rows(
    client: DynamoDbClient, addresses: Iterable[RowAddress]
) -> dict[RowAddress, dict[str, Any]]:
    """Return the rows that exist among at most 100 addresses, from all tables in one request.

    Raises:
        SinkAccessDeniedError, SinkUnavailableError: the tables cannot be read.
    """
    left = list(dict.fromkeys(addresses))
    found: dict[RowAddress, dict[str, Any]] = {}
    if not left:
        return found
    names = {each.table: [name for name, _ in each.key] for each in left}
    tables: Any = {}
    for table, key in left:
        keys = tables.setdefault(table, {"ConsistentRead": True, "Keys": []})["Keys"]
        keys.append({name: {"S": value} for name, value in key})

    def read(answer: dict[str, Any]) -> dict[str, Any]:
        """Add the items of a BatchGetItem, and return the keys that it left."""
        for table, items in answer["Responses"].items():
            for item in map(read_item, items):
                found[RowAddress(table, tuple((name, item[name]) for name in names[table]))] = item
        rest = answer.get("UnprocessedKeys", {}).items()
        return {table: {"ConsistentRead": True, "Keys": each["Keys"]} for table, each in rest}

    for _ in client.attempts:
        # An answer holds at most 16 MB; DynamoDB leaves the rest unprocessed.
        tables = client.call("BatchGetItem", json.dumps({"RequestItems": tables}).encode(), read)
        if not tables:
            return found
    count = sum(len(each["Keys"]) for each in tables.values())
    raise SinkUnavailableError(
        f"DynamoDB left {count} rows of table {', '.join(sorted(tables))} unread for "
        f"{client.attempts.total_seconds:g} s"
    )


def query_rows(
    client: DynamoDbClient, request: Mapping[str, Any], operation: str = "Query"
) -> Iterator[list[dict[str, Any]]]:
    """Yield the pages of the rows of a query, or of a scan.

    Raises:
        SinkAccessDeniedError, SinkUnavailableError: the table cannot be read.
    """
    start: dict[str, Any] = {}
    while True:
        body = json.dumps({**request, **start}).encode()
        rows, last = client.call(operation, body, _read_page)
        yield rows
        if last is None:
            return
        start = {"ExclusiveStartKey": last}


def _read_page(answer: dict[str, Any]) -> tuple[list[dict[str, Any]], Any]:
    return [read_item(item) for item in answer["Items"]], answer.get("LastEvaluatedKey")
