"""Writers of rows to a DynamoDB table; a rejected row does not stop the others.

A writer takes rows from an iterable and holds at most 4 MiB of them, as JSON, at the same time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from itertools import chain
from typing import Any, Final, NamedTuple, Protocol

from penstock.errors import SinkRefusedError, SinkUnavailableError
from penstock.records import ORDER, Mode, RowShape
from penstock.sinks.dynamodb_client import DynamoDbClient
from penstock.sinks.item_json import write_item

_BATCH: Final = 25  # the limit of BatchWriteItem
_HELD_BYTES: Final = 4 * 2**20
_UPSERT: Final = (
    b'{"TableName":%b,"Item":%b,'
    b'"ConditionExpression":"attribute_not_exists(#order) OR #order < :order",'
    b'"ExpressionAttributeNames":{"#order":"' + ORDER.encode() + b'"},'
    b'"ExpressionAttributeValues":%b}'
)

# By position. The errors are copies: the frames of a traceback would keep all rejected rows alive.
_Refused = dict[int, SinkRefusedError]


class _Row(NamedTuple):
    """A row as JSON, and its position in the caller's items."""

    place: int
    key: tuple[Any, ...]
    order: str
    text: bytes


class RowWriter(Protocol):
    """A writer of rows of one shape to one table, for one thread."""

    shape: RowShape

    def write(self, items: Iterable[Mapping[str, Any]]) -> dict[int, SinkRefusedError]:
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
    """A writer of one table, for one thread; of rows with the same key, the last one stays."""

    def __init__(self, client: DynamoDbClient, table: str, shape: RowShape) -> None:
        self._client = client
        self.shape = shape
        self._table = table

    def write(self, items: Iterable[Mapping[str, Any]]) -> dict[int, SinkRefusedError]:
        """Write all rows that the table accepts, in order; see `RowWriter.write`."""
        refused: _Refused = {}
        for batch in _in_batches(_encode(items, self.shape, refused), _BATCH):
            left = batch
            while left:
                # DynamoDB rejects a request in which a key occurs twice.
                first: dict[tuple[Any, ...], _Row] = {}
                for row in left:
                    first.setdefault(row.key, row)
                refused |= self._write_batch(list(first.values()))
                left = [row for row in left if row is not first[row.key]]
        return refused

    def _write_batch(self, rows: Sequence[_Row]) -> _Refused:
        """Write a batch; bisect a rejected batch until it has only the row at fault."""
        try:
            self._put([row.text for row in rows])
        except SinkRefusedError as error:
            if len(rows) == 1:
                return {rows[0].place: copy(error)}
        else:
            return {}
        middle = len(rows) // 2
        return self._write_batch(rows[:middle]) | self._write_batch(rows[middle:])

    def _put(self, items: list[bytes]) -> None:
        for left in put_items(self._client, self._table, lambda: items):
            items[:] = [json.dumps(item).encode() for item in left]


class UpsertWriter:
    """A writer that replaces a row only by a newer version; for one thread.

    DynamoDB supports no condition in a batch, so each row is a request of its own; 25 of them are
    under way at the same time.
    """

    def __init__(self, client: DynamoDbClient, table: str, shape: RowShape) -> None:
        self._client = client
        self._table = json.dumps(table).encode()
        self.shape = shape

    def write(self, items: Iterable[Mapping[str, Any]]) -> dict[int, SinkRefusedError]:
        """Write the newest row of each key that the table accepts; see `RowWriter.write`.

        A row stays if it is as new or newer.
        """
        refused: _Refused = {}
        for batch in _in_batches(_encode(items, self.shape, refused)):
            left = sorted(batch, key=lambda row: row.order, reverse=True)
            while left:
                newest: dict[tuple[Any, ...], _Row] = {}
                for row in left:
                    newest.setdefault(row.key, row)
                rejected = self._put(list(newest.values()))
                refused |= rejected
                # If the newest row of a key is rejected, the one before it is written.
                left = [
                    row
                    for row in left
                    if row is not newest[row.key] and newest[row.key].place in rejected
                ]
        return refused

    def _put(self, rows: Sequence[_Row]) -> _Refused:
        """Write rows of different keys at the same time."""
        requests = (
            _UPSERT % (self._table, row.text, write_item({":order": row.order})) for row in rows
        )
        errors = self._client.call_each("PutItem", requests)
        return {
            row.place: error
            for row, error in zip(rows, errors, strict=True)
            if isinstance(error, SinkRefusedError)  # a row that exists is as new or newer
        }


def put_items(
    client: DynamoDbClient, table: str, make_items: Callable[[], Iterable[bytes]]
) -> Iterator[list[dict[str, Any]]]:
    """Put at most 25 items; yield those that each answer leaves unprocessed, until none is left.

    `make_items` returns the items that are left, as JSON; each attempt to send them asks for them.

    Raises:
        SinkRefusedError: DynamoDB refuses the whole request; see `DynamoDbClient.call`.
        SinkAccessDeniedError, SinkUnavailableError: some items may be written.
    """
    name = json.dumps(table).encode()

    def make_body() -> bytes:
        puts = b",".join([b'{"PutRequest":{"Item":%b}}' % item for item in make_items()])
        return b'{"RequestItems":{%b:[%b]}}' % (name, puts)

    for _ in client.attempts:
        left = client.call("BatchWriteItem", make_body, _read_unprocessed)
        yield left
        if not left:
            return
    raise SinkUnavailableError(
        f"DynamoDB left {len(left)} rows for table {table} unprocessed for "
        f"{client.attempts.total_seconds:g} s"
    )


def _encode(
    items: Iterable[Mapping[str, Any]], shape: RowShape, refused: _Refused
) -> Iterator[_Row]:
    """Yield rows as JSON; add the errors of rows that have none to `refused`."""
    for place, item in enumerate(items):
        key = tuple(item[name] for name in shape.table_key)
        try:
            text = write_item(item)
        except SinkRefusedError as error:
            refused[place] = copy(error)
        else:
            yield _Row(place, key, item.get(ORDER, ""), text)


def _in_batches(rows: Iterable[_Row], most: int | None = None) -> Iterator[list[_Row]]:
    """Yield rows in batches of at most so many rows, and of 4 MiB unless one row is larger."""
    batch: list[_Row] = []
    size = 0
    for row in rows:
        if batch and (len(batch) == most or size + len(row.text) > _HELD_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(row)
        size += len(row.text)
    if batch:
        yield batch


def _read_unprocessed(answer: dict[str, Any]) -> list[dict[str, Any]]:
    left = answer.get("UnprocessedItems", {}).values()
    return [put["PutRequest"]["Item"] for put in chain(*left)]
