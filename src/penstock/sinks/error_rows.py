"""The dead-letter table for a replay: find rows, read them, and mark them with the result."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from penstock.errors import RowExistsError, SinkUnavailableError
from penstock.records import FailedRecord
from penstock.sinks._attempts import CALL_ATTEMPTS
from penstock.sinks._json import read_item, write_item
from penstock.sinks.dynamodb_client import DynamoDbClient
from penstock.sinks.given_up import GivenUp, Selection
from penstock.sinks.parking import Parking
from penstock.sinks.rows import write_detail

DEFAULT_KEEP_DAYS: Final = 365  # the same as for parked records

_ROWS_AT_ONCE: Final = 100  # DynamoDB reads no more in one request
_STAGES: Final = ("lambda", "spark")
_DUE_INDEX: Final = "due"
_WAIT_SECONDS: Final = 3_600
_DAY_SECONDS: Final = 86_400
_OPEN: Final = "#stage = :stage"
_DUE: Final = f"{_OPEN} AND nextAttemptAt <= :until"
_SETTLED: Final = "#replay = :replay, expiresAt = :expires REMOVE nextAttemptAt"
# Without this condition, an update of a missing row would create one with few attributes.
_THERE: Final = "attribute_exists(id)"
# A row takes one result of a replay, however often the replay reports it.
_UNTOLD: Final = (
    f"{_THERE} AND attribute_not_exists(doneAt) AND attribute_not_exists(parkedAt) "
    "AND (attribute_not_exists(#replay) OR #replay <> :replay)"
)


class ErrorRows:
    """The dead-letter table and the bucket for bytes that its rows cannot hold; for one thread.

    A row that is done or parked expires (TTL) after `keep_days`.
    """

    def __init__(
        self,
        client: DynamoDbClient,
        table: str,
        parking: Parking,
        *,
        keep_days: int = DEFAULT_KEEP_DAYS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._client = client
        self._table = table
        self._parking = parking
        self._keep_seconds = keep_days * _DAY_SECONDS
        self._clock = clock

    def find(self, selection: Selection) -> list[str]:
        """Return the sorted ids of rows that match the selection in the index.

        The index may lag behind the table; `read` has the current rows.
        """
        return sorted(row_id for stage in _STAGES for row_id in self._query(stage, selection))

    def read(
        self, ids: Sequence[str], takes: Callable[[GivenUp], bool] = lambda row: True
    ) -> Iterator[GivenUp]:
        """Yield the full rows for `ids` that `takes` accepts; skip ids missing in the table."""
        for start in range(0, len(ids), _ROWS_AT_ONCE):
            found = self._get(ids[start : start + _ROWS_AT_ONCE])
            for row in sorted(found, key=lambda row: str(row["id"])):
                if takes(GivenUp.describe(row)):
                    yield GivenUp.restore(row, self._parking)

    def count_failure(self, failed: FailedRecord, replay: str) -> None:
        """Count a failed attempt of a replay; a second call for the same replay is ignored."""
        self._tell(
            failed.id,
            "SET #attempts = #attempts + :one, #reason = :reason, #detail = :detail, "
            "#replay = :replay, nextAttemptAt = :next REMOVE expiresAt",
            {
                ":one": 1,
                ":reason": failed.failure.reason.value,
                ":detail": write_detail(failed.failure.detail),
                ":replay": replay,
                ":next": int(self._clock()) + _WAIT_SECONDS,
            },
        )

    def mark_done(self, row_id: str, replay: str) -> bool:
        """Mark a row as done by a replay; return whether the row was changed.

        It is not changed if it is gone, done or parked, or has a result of this replay.
        """
        return self._tell(
            row_id,
            f"SET doneAt = :now, {_SETTLED}",
            {":now": int(self._clock() * 1_000), **self._settle(replay)},
        )

    def mark_parked(self, row_id: str, where: str, replay: str) -> bool:
        """Mark a row as parked at `where`; return False if the row is gone."""
        return self._tell(
            row_id,
            f"SET parkedAt = :where, {_SETTLED}",
            {":where": where, **self._settle(replay)},
            _THERE,
        )

    def _settle(self, replay: str) -> dict[str, Any]:
        return {":replay": replay, ":expires": int(self._clock()) + self._keep_seconds}

    def _tell(
        self, row_id: str, update: str, values: Mapping[str, Any], condition: str = _UNTOLD
    ) -> bool:
        request = {
            "Key": {"id": {"S": row_id}},
            "UpdateExpression": update,
            "ConditionExpression": condition,
            "ExpressionAttributeNames": _name(update, condition),
            "ExpressionAttributeValues": json.loads(write_item(values)),
        }
        try:
            self._call("UpdateItem", {"TableName": self._table, **request})
        except RowExistsError:
            return False
        return True

    def _get(self, ids: Sequence[str]) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        keys: Any = [{"id": {"S": row_id}} for row_id in ids]
        for _ in CALL_ATTEMPTS:
            wanted = {self._table: {"Keys": keys, "ConsistentRead": True}}
            answer = self._call("BatchGetItem", {"RequestItems": wanted})
            found += map(read_item, answer["Responses"].get(self._table, ()))
            keys = answer.get("UnprocessedKeys", {}).get(self._table, {}).get("Keys", [])
            if not keys:
                return found
        raise SinkUnavailableError(
            f"DynamoDB left {len(keys)} rows of table {self._table} unread for "
            f"{CALL_ATTEMPTS.total_seconds:g} s"
        )

    def _query(self, stage: str, selection: Selection) -> Iterator[str]:
        """Yield the ids of matching rows; the index has only open rows and no raw bytes."""
        condition, values = _OPEN, dict[str, Any]({":stage": stage})
        if selection.due_s is not None:
            condition, values = _DUE, {**values, ":until": selection.due_s}
        request = {
            "IndexName": _DUE_INDEX,
            "KeyConditionExpression": condition,
            "ExpressionAttributeNames": _name(condition),
            "ExpressionAttributeValues": json.loads(write_item(values)),
        }
        for row in self._pages(request):
            if selection.takes(GivenUp.describe(row)):
                yield row["id"]

    def _pages(self, request: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        start: dict[str, Any] = {}
        while True:
            answer = self._call("Query", {"TableName": self._table, **request, **start})
            yield from map(read_item, answer["Items"])
            if "LastEvaluatedKey" not in answer:
                return
            start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}

    def _call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        return self._client.call(operation, json.dumps(request).encode())


def _name(*expressions: str) -> dict[str, str]:
    """Return the attribute names of expressions, as many plain names are reserved words."""
    return {f"#{name}": name for text in expressions for name in re.findall(r"#(\w+)", text)}
