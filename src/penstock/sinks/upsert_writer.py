"""A writer of upserts to a DynamoDB table, which keeps the newest version of each row."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

from penstock.errors import RowExistsError, SinkRefusedError
from penstock.records import ORDER, Mode, RowShape
from penstock.sinks._json import write_item
from penstock.sinks.dynamodb_client import DynamoDbClient
from penstock.sinks.table_writer import TableWriter

_REQUEST: Final = (
    b'{"TableName":%b,"Item":%b,'
    b'"ConditionExpression":"attribute_not_exists(#order) OR #order < :order",'
    b'"ExpressionAttributeNames":{"#order":"' + ORDER.encode() + b'"},'
    b'"ExpressionAttributeValues":%b}'
)


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
        self._client.call("PutItem", _REQUEST % (self._table, write_item(item), order))


def open_table(client: DynamoDbClient, table: str, shape: RowShape) -> RowWriter:
    """Return the writer of a table for rows of a shape; it makes no network call."""
    if shape.mode is Mode.UPSERT:
        return UpsertWriter(client, table, shape)
    return TableWriter(client, table, shape)
