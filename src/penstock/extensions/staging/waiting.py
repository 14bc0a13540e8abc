"""The waiting table: which rows of driver tables wait for a row that is not staged yet.

| attribute    | holds                                                                      |
| ------------ | -------------------------------------------------------------------------- |
| `waitingFor` | partition key: the missing row, `table/key`                                |
| `driver`     | sort key: the row that waits, `table/key`; of a marker `-`                 |
| `table`      | the driver table in the plan                                               |
| `key`        | the key attributes of the row that waits                                   |
| `id`         | the id of its dead letter                                                  |
| `token`      | text of one attempt to write it: an item is deleted only as it was read    |
| `expiresAt`  | the time when DynamoDB deletes the item (TTL), in seconds since 1970       |

A marker says that rows may wait, so that one request asks about 100 staged rows. It is written
after the items that it stands for, and deleted only if nothing was written since it was read.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Final
from uuid import uuid4

from penstock.errors import SinkRefusedError
from penstock.sinks import DynamoDbClient, RowAddress, put_items, query_rows, read_rows

_MARKER: Final = "-"  # the name of a row has a slash
_KEPT_SECONDS: Final = 90 * 86_400  # longer than all retries
_MAX_PARTITION_BYTES: Final = 2_048
_MAX_SORT_BYTES: Final = 1_024
_ITEMS_AT_ONCE: Final = 100
_WRITTEN_AT_ONCE: Final = 25  # the limit of BatchWriteItem


@dataclass(frozen=True, slots=True)
class Waiter:
    """A row of a driver table that waits, or a marker; `token` is empty before it is written."""

    waiting_for: str
    table: str
    key: tuple[tuple[str, str], ...]
    id: str
    driver: str
    token: str = ""


class WaitingTable:
    """The DynamoDB table of rows that wait for other rows; only one thread may use it."""

    def __init__(
        self,
        client: DynamoDbClient,
        table: str,
        *,
        clock: Callable[[], float] = time.time,
        new_token: Callable[[], str] = lambda: uuid4().hex,
    ) -> None:
        self._client = client
        self._table = table
        self._clock = clock
        self._new_token = new_token

    def put(self, waiters: Sequence[Waiter]) -> list[Waiter]:
        """Write an item for each waiter, then the marker of each row that they wait for.

        Returns:
            The waiters as they were written.

        Raises:
            SinkRefusedError: the table rejects an item; it may have another key.
        """
        written = self._write_items(waiters)
        missing = dict.fromkeys(each.waiting_for for each in waiters)
        self._write_items([Waiter(each, "", (), "", _MARKER) for each in missing])
        return written

    def _write_items(self, waiters: Sequence[Waiter]) -> list[Waiter]:
        """Write items, and return them as the last attempt wrote them.

        An attempt without an answer may take effect later, even after the item was written again.
        A token that was used once, and so not read before, then keeps the item from deletion.
        """
        return [
            each
            for start in range(0, len(waiters), _WRITTEN_AT_ONCE)
            for each in self._write_batch(waiters[start : start + _WRITTEN_AT_ONCE])
        ]

    def _write_batch(self, left: Sequence[Waiter]) -> Iterator[Waiter]:
        sent: list[Waiter] = []

        def make_items() -> list[bytes]:
            sent[:] = [replace(each, token=self._new_token()) for each in left]
            return [json.dumps(self._make_item(each)).encode() for each in sent]

        for unprocessed in put_items(self._client, self._table, make_items):
            tokens = {item["token"]["S"] for item in unprocessed}
            yield from (each for each in sent if each.token not in tokens)
            left = [each for each in sent if each.token in tokens]

    def find_markers(self, rows: Sequence[str]) -> list[Waiter]:
        """Return the markers of rows, at most 100, that others may wait for."""
        keys = [{"waitingFor": shorten_name(row), "driver": _MARKER} for row in rows]
        found = read_rows(self._client, [RowAddress.of(self._table, key) for key in keys])
        return [_read_waiter(row) for row in found.values()]

    def find_waiters(self, marker: Waiter) -> Iterator[list[Waiter]]:
        """Yield the waiters of a marker's row, at most 100 at once."""
        request = {
            "TableName": self._table,
            "KeyConditionExpression": "waitingFor = :row",
            "ExpressionAttributeValues": {":row": {"S": marker.waiting_for}},
            "ConsistentRead": True,
            "Limit": _ITEMS_AT_ONCE,
        }
        for page in query_rows(self._client, request):
            yield [_read_waiter(item) for item in page if item["driver"] != _MARKER]

    def delete(self, *waiters: Waiter) -> None:
        """Delete items or markers, 25 at once, except those written again since they were read."""
        self._delete(
            self._write_delete(each.waiting_for, each.driver, "#token = :value", each.token)
            for each in waiters
        )

    def forget(self, waiting_for: str, driver: str, record_id: str) -> None:
        """Delete the item of a record, whenever it was written."""
        self._delete([self._write_delete(waiting_for, driver, "id = :value", record_id)])

    def _delete(self, requests: Iterable[bytes]) -> None:
        for error in self._client.call_each("DeleteItem", requests):
            if isinstance(error, SinkRefusedError):  # else it is gone, or another one
                raise error

    def _write_delete(self, waiting_for: str, driver: str, condition: str, value: str) -> bytes:
        request = {
            "TableName": self._table,
            "Key": {
                "waitingFor": {"S": shorten_name(waiting_for)},
                "driver": {"S": shorten_name(driver, _MAX_SORT_BYTES)},
            },
            "ConditionExpression": condition,
            "ExpressionAttributeValues": {":value": {"S": value}},
        }
        if "#token" in condition:  # a reserved word
            request["ExpressionAttributeNames"] = {"#token": "token"}
        return json.dumps(request).encode()

    def _make_item(self, waiter: Waiter) -> dict[str, Any]:
        return {
            "waitingFor": {"S": shorten_name(waiter.waiting_for)},
            "driver": {"S": shorten_name(waiter.driver, _MAX_SORT_BYTES)},
            "table": {"S": waiter.table},
            "key": {"M": {name: {"S": value} for name, value in waiter.key}},
            "id": {"S": waiter.id},
            "token": {"S": waiter.token},
            "expiresAt": {"N": str(int(self._clock()) + _KEPT_SECONDS)},
        }


def _read_waiter(item: dict[str, Any]) -> Waiter:
    return Waiter(
        item["waitingFor"],
        item["table"],
        tuple(sorted(item["key"].items())),
        item["id"],
        item["driver"],
        item["token"],
    )


def shorten_name(text: str, most_bytes: int = _MAX_PARTITION_BYTES) -> str:
    """Return a name that is short enough for a key; a hash replaces the end of a longer one."""
    raw = text.encode()
    if len(raw) <= most_bytes:
        return text
    digest = sha256(raw).hexdigest()
    return f"{raw[: most_bytes - len(digest) - 1].decode(errors='ignore')}#{digest}"
