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


class _Reading:
    """The rows that were read, and the addresses that are left."""

    def __init__(self, addresses: Iterable[RowAddress]) -> None:
        self.found: dict[RowAddress, dict[str, Any]] = {}
        self.left = list(dict.fromkeys(addresses))
        self._names = {each.table: [name for name, _ in each.key] for each in self.left}
        self._most = 2 * len(self.left)

    def make_body(self) -> bytes:
        """Ask for the rows that are left: at first for all, and for half as many at each retry."""
        self._most = max(self._most // 2, 1)
        tables: Any = {}
        for table, key in self.left[: self._most]:
            keys = tables.setdefault(table, {"ConsistentRead": True, "Keys": []})["Keys"]
            keys.append({name: {"S": value} for name, value in key})
        return json.dumps({"RequestItems": tables}).encode()

    def read(self, answer: dict[str, Any]) -> list[RowAddress]:
        """Add the items of a BatchGetItem, and return the addresses that it left."""
        for table, items in answer["Responses"].items():
            for item in map(read_item, items):
                self.found[self._find_address(table, item)] = item
        unread = [
            self._find_address(table, read_item(key))
            for table, each in answer.get("UnprocessedKeys", {}).items()
            for key in each["Keys"]
        ]
        self.left[: self._most] = unread
        self._most *= 2  # the next request asks for as many
        return unread

    def _find_address(self, table: str, item: Mapping[str, Any]) -> RowAddress:
        return RowAddress(table, tuple((name, item[name]) for name in self._names[table]))


def read_rows(
    client: DynamoDbClient, addresses: Iterable[RowAddress]
) -> dict[RowAddress, dict[str, Any]]:
    """Return the rows that exist among at most 100 addresses, from all tables in one request.

    After a failure fewer rows are asked for at once, since their answer may have been too long.

    Raises:
        SinkAccessDeniedError, SinkUnavailableError: the tables cannot be read.
    """
    reading = _Reading(addresses)
    while left := reading.left:
        for _ in client.attempts:
            # An answer holds at most 16 MB; DynamoDB leaves the rest unprocessed.
            if not client.call("BatchGetItem", reading.make_body, reading.read):
                break
        else:
            raise SinkUnavailableError(
                f"DynamoDB left {len(left)} rows of table "
                f"{', '.join(sorted({each.table for each in left}))} unread for "
                f"{client.attempts.total_seconds:g} s"
            )
    return reading.found


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
