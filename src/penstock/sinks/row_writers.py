"""Writers of rows to a DynamoDB table; a rejected row does not stop the others."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, Final, Protocol

from penstock.errors import RowExistsError, SinkRefusedError, SinkUnavailableError
from penstock.records import ORDER, Mode, RowShape
from penstock.sinks._json import write_item
from penstock.sinks.dynamodb_client import DynamoDbClient

_BATCH: Final = 25  # the limit of BatchWriteItem
_UPSERT: Final = (
    b'{"TableName":%b,"Item":%b,'
    b'"ConditionExpression":"attribute_not_exists(#order) OR #order < :order",'
    b'"ExpressionAttributeNames":{"#order":"' + ORDER.encode() + b'"},'
    b'"ExpressionAttributeValues":%b}'
)

# A row's position in the caller's items, and its JSON.
_Row = tuple[int, bytes]


class RowWriter(Protocol):
    """A writer of rows of one shape to one table, for one thread."""

    shape: RowShape

    def write(self, items: Sequence[Mapping[str, Any]]) -> dict[int, SinkRefusedError]:
        """Write all rows that the table accepts; idempotent.

        Returns:
            The errors of rejected rows, by position in `items`.

        Raises:
            SinkAccessDeniedError, SinkUnavailableError: some rows may be written; writing all of
                them again is safe.
        """


def open_table(client: DynamoDbClient, table: str, shape: RowShape) -> RowWriter:
    """Return the writer of a table for rows of a shape; it makes no network call."""
    if shape.mode is Mode.UPSERT:
        return UpsertWriter(client, table, shape)
    return TableWriter(client, table, shape)


class TableWriter:
    """A writer of one table, for one thread."""

    def __init__(self, client: DynamoDbClient, table: str, shape: RowShape) -> None:
        self._client = client
        self.shape = shape
        self._key = shape.table_key
        self._table = table

    def write(self, items: Sequence[Mapping[str, Any]]) -> dict[int, SinkRefusedError]:
        """Write all items that the table accepts; if several have the same key, the last one.

        Returns:
            The errors of rejected items, by position in `items`.

        Raises:
            SinkAccessDeniedError, SinkUnavailableError: some items may be written; writing all of
                them again is safe.
        """
        refused: dict[int, SinkRefusedError] = {}
        rows: dict[tuple[Any, ...], _Row] = {}
        for place, item in enumerate(items):
            try:
                # DynamoDB rejects a whole batch in which a key occurs twice.
                rows[tuple(item[name] for name in self._key)] = (place, write_item(item))
            except SinkRefusedError as error:
                refused[place] = error
        ordered = list(rows.values())
        for start in range(0, len(ordered), _BATCH):
            refused |= self._write_batch(ordered[start : start + _BATCH])
        return refused

    def _write_batch(self, rows: Sequence[_Row]) -> dict[int, SinkRefusedError]:
        """Write a batch; bisect a rejected batch until the row at fault is alone."""
        try:
            self._put([text for _, text in rows])
        except SinkRefusedError as error:
            if len(rows) == 1:
                return {rows[0][0]: error}
        else:
            return {}
        middle = len(rows) // 2
        return self._write_batch(rows[:middle]) | self._write_batch(rows[middle:])

    def _put(self, items: list[bytes]) -> None:
        table = json.dumps(self._table).encode()
        for _ in self._client.attempts:
            puts = b",".join([b'{"PutRequest":{"Item":%b}}' % item for item in items])
            body = b'{"RequestItems":{%b:[%b]}}' % (table, puts)
            items = self._client.call("BatchWriteItem", body, _read_unprocessed)
            if not items:
                return
        raise SinkUnavailableError(
            f"DynamoDB left {len(items)} rows for table {self._table} unprocessed for "
            f"{self._client.attempts.total_seconds:g} s"
        )


class UpsertWriter:
    """A writer that replaces a row only by a newer version; for one thread.

    DynamoDB supports no condition in a batch, so each row is a request of its own.
    """

    def __init__(self, client: DynamoDbClient, table: str, shape: RowShape) -> None:
        self._client = client
        self._table = json.dumps(table).encode()
        self.shape = shape
        self._key = shape.table_key

    def write(self, items: Sequence[Mapping[str, Any]]) -> dict[int, SinkRefusedError]:
        """Write the newest row of each key, unless the table has one that is as new or newer."""
        newest: dict[tuple[Any, ...], int] = {}
        for place, item in enumerate(items):
            key = tuple(item[name] for name in self._key)
            if key not in newest or items[newest[key]][ORDER] < item[ORDER]:
                newest[key] = place
        refused: dict[int, SinkRefusedError] = {}
        for place in newest.values():
            try:
                self._put(items[place])
            except RowExistsError:
                continue
            except SinkRefusedError as error:
                refused[place] = error
        return refused

    def _put(self, item: Mapping[str, Any]) -> None:
        order = write_item({":order": item[ORDER]})
        self._client.call("PutItem", _UPSERT % (self._table, write_item(item), order))


def _read_unprocessed(answer: dict[str, Any]) -> list[bytes]:
    left = answer.get("UnprocessedItems", {}).values()
    return [json.dumps(put["PutRequest"]["Item"]).encode() for put in chain(*left)]
