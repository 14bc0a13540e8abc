"""A writer of rows to a DynamoDB table in batches; a rejected row does not stop the others."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from penstock.attempts import Attempts
from penstock.errors import SinkRefusedError, SinkUnavailableError
from penstock.records import RowShape
from penstock.sinks._attempts import CALL_ATTEMPTS
from penstock.sinks._json import write_item
from penstock.sinks.dynamodb_client import DynamoDbClient

_BATCH = 25  # the limit of BatchWriteItem

# A row's position in the caller's items, and its JSON.
_Row = tuple[int, bytes]


class TableWriter:
    """A writer of one table, for one thread."""

    def __init__(
        self,
        client: DynamoDbClient,
        table: str,
        shape: RowShape,
        *,
        attempts: Attempts = CALL_ATTEMPTS,
    ) -> None:
        self._client = client
        self.shape = shape
        self._key = shape.table_key
        self._table = table
        self._attempts = attempts

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
        for _ in self._attempts:
            puts = b",".join([b'{"PutRequest":{"Item":%b}}' % item for item in items])
            body = b'{"RequestItems":{%b:[%b]}}' % (table, puts)
            answer = self._client.call("BatchWriteItem", body)
            left = answer.get("UnprocessedItems", {}).values()
            items = [json.dumps(put["PutRequest"]["Item"]).encode() for put in chain(*left)]
            if not items:
                return
        raise SinkUnavailableError(
            f"DynamoDB left {len(items)} rows for table {self._table} unprocessed for "
            f"{self._attempts.total_seconds:g} s"
        )
