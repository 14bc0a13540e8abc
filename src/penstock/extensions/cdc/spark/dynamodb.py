"""A DynamoDB table that is equal to a table of the database.

A row has the columns of the database's table, `_lsn` and `_offset`: the place of its last change,
before which no other one is written. Its key is the primary key as text, in the attribute of its
column; a key of several columns is joined by `/` in the attribute `_key`. A deleted row keeps its
key and place, has `_deleted`, and `_expiresAt` for the table's TTL.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, DateType, TimestampNTZType, TimestampType

from penstock.errors import RowExistsError, SinkRefusedError
from penstock.extensions.cdc.spark.net import KEPT, Moment
from penstock.extensions.cdc.spark.sink import ChangeBatch
from penstock.records import DELETED, KeyFormat, Mode, RowShape, find_row_key
from penstock.sinks import write_item
from penstock.spark.columns import read_columns
from penstock.spark.failures import in_chunks, run_task
from penstock.spark.lake.conversion import quote
from penstock.spark.rows import EVENT
from penstock.spark.sinks.dynamodb import open_client

_DAY_SECONDS: Final = 86_400
_KEY: Final = "_key"
_NAMES: Final = {"#lsn": "_lsn", "#offset": "_offset"}
_IS_OLDER: Final = "#lsn < :lsn OR (#lsn = :lsn AND #offset < :offset)"
_IS_NEWER: Final = f"attribute_not_exists(#lsn) OR {_IS_OLDER}"


@dataclass(frozen=True, slots=True)
class CurrentDynamoDbTable:
    """A DynamoDB table that is equal to a table of the database.

    Attributes:
        table: its name.
        remembered_days: how long deleted rows keep their places.
    """

    table: str
    remembered_days: int

    def write(self, batch: ChangeBatch) -> None:
        """Write net changes; this is idempotent.

        Raises:
            SinkRefusedError: DynamoDB cannot hold a row.
            SinkAccessDeniedError, SinkUnavailableError: some may be written; write all again.
        """
        expires_at = int(time.time()) + self.remembered_days * _DAY_SECONDS
        if batch.log.truncations:
            delete_before(self.table, batch.log.truncations[-1], expires_at)
        if batch.log.has_rows:
            names = {each.name: each.field for each in read_columns(batch.changes.type).columns}
            values = [
                _to_plain(f"{EVENT}.{quote(each.name)}", each.dataType).alias(each.name)
                for each in batch.changes.type
            ]
            kept = [quote(each) for each in batch.net.columns if each.startswith(KEPT)]
            rows = batch.net.select(
                F.struct(*values).alias(EVENT), DELETED, "_lsn", "_offset", *kept
            )
            run_task(rows, _WriteRows(self.table, batch.key, names, expires_at))
        if batch.log.complete is not None:
            delete_before(self.table, batch.log.complete, expires_at)


@dataclass(frozen=True, slots=True)
class _WriteRows:
    """The task that writes the net changes of a partition; sent to the executors."""

    table: str
    key: tuple[str, ...]
    names: Mapping[str, str]
    expires_at: int

    def __call__(self, rows: Iterable[Any]) -> Iterator[None]:
        for chunk in in_chunks(rows):
            puts, updates = list[bytes](), list[bytes]()
            for row in chunk:
                if unknown := self._find_unknown(row):
                    updates.append(self._update(row, unknown))
                else:
                    puts.append(self._put(row))
            write_each("PutItem", puts)
            write_each("UpdateItem", updates)
        yield from ()

    def _find_unknown(self, row: Any) -> set[str]:
        """Return the fields whose values the log does not have."""
        return {
            name
            for name in self.names
            if f"{KEPT}{name}" in row and not row[DELETED] and row[f"{KEPT}{name}"] is None
        }

    def _put(self, row: Any) -> bytes:
        if row[DELETED]:
            own = {DELETED: True, "_expiresAt": self.expires_at}
            item = {**self._find_key(row), **own}
        else:
            item = {**self._read_values(row), **self._find_key(row)}
        return write_put(self.table, item, row["_lsn"], row["_offset"])

    def _update(self, row: Any, unknown: set[str]) -> bytes:
        """Write a row without values that the log does not have; those that are there stay."""
        key = self._find_key(row)
        lost = {self.names[each] for each in unknown}
        given = {
            name: value
            for name, value in self._read_values(row).items()
            if name not in lost and name not in key
        }
        given |= {"_lsn": row["_lsn"], "_offset": row["_offset"]}
        places = {name: f"{at}" for at, name in enumerate(given)}
        assigned = ", ".join(f"#a{at} = :a{at}" for at in places.values())
        values = {f":a{places[name]}": value for name, value in given.items()}
        names = {f"#a{at}": name for name, at in places.items()} | {
            "#deleted": DELETED,
            "#expires": "_expiresAt",
        }
        return _write_request(
            {
                "TableName": self.table,
                "UpdateExpression": f"SET {assigned} REMOVE #deleted, #expires",
                "ConditionExpression": _IS_NEWER,
                "ExpressionAttributeNames": {**_NAMES, **names},
            },
            Key=write_item(key),
            ExpressionAttributeValues=write_item(
                {**values, ":lsn": row["_lsn"], ":offset": row["_offset"]}
            ),
        )

    def _find_key(self, row: Any) -> dict[str, str]:
        return find_row_key(_make_shape(self.key), row[EVENT].asDict())

    def _read_values(self, row: Any) -> dict[str, Any]:
        found = row[EVENT].asDict(recursive=True)
        return {self.names[name]: _simplify(value) for name, value in found.items()}


def write_put(table: str, item: Mapping[str, Any], lsn: int, offset: int) -> bytes:
    """Return the request that writes an item unless it has a later change."""
    return _write_request(
        {
            "TableName": table,
            "ConditionExpression": _IS_NEWER,
            "ExpressionAttributeNames": _NAMES,
        },
        Item=write_item({**item, "_lsn": lsn, "_offset": offset}),
        ExpressionAttributeValues=write_item({":lsn": lsn, ":offset": offset}),
    )


def delete_before(table: str, moment: Moment, expires_at: int) -> None:
    """Delete the rows whose last change is before a moment of the log.

    Raises:
        SinkAccessDeniedError, SinkUnavailableError: some may be deleted; delete all again.
    """
    client = open_client()
    keys = client.call("DescribeTable", json.dumps({"TableName": table}).encode())
    names = [each["AttributeName"] for each in keys["Table"]["KeySchema"]]
    request: dict[str, Any] = {
        "TableName": table,
        "FilterExpression": f"({_IS_OLDER}) AND attribute_not_exists(#deleted)",
        "ProjectionExpression": ", ".join(f"#k{at}" for at in range(len(names))),
        "ExpressionAttributeNames": {
            **_NAMES,
            "#deleted": DELETED,
            **{f"#k{at}": name for at, name in enumerate(names)},
        },
        "ExpressionAttributeValues": {
            ":lsn": {"N": str(moment.lsn)},
            ":offset": {"N": str(moment.offset)},
        },
    }
    while True:
        page = client.call("Scan", json.dumps(request).encode())
        own = {DELETED: True, "_expiresAt": expires_at}
        texts = [{name: each[name]["S"] for name in names} for each in page["Items"]]
        puts = [write_put(table, {**each, **own}, moment.lsn, moment.offset) for each in texts]
        write_each("PutItem", puts)
        if "LastEvaluatedKey" not in page:
            return
        request["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def write_each(operation: str, bodies: Iterable[bytes]) -> None:
    """Make calls; a row that has a later change is left as it is.

    Raises:
        SinkRefusedError: DynamoDB cannot hold a row.
        SinkAccessDeniedError, SinkUnavailableError: some may be made.
    """
    for refused in open_client().call_each(operation, bodies):
        if isinstance(refused, SinkRefusedError) and not isinstance(refused, RowExistsError):
            raise refused


def _write_request(plain: Mapping[str, Any], **written: bytes) -> bytes:
    """Return the body of a request, of plain fields and of those that are written already."""
    fields = [b'"%b":%b' % (name.encode(), text) for name, text in written.items()]
    return b"%b,%b}" % (json.dumps(plain).encode()[:-1], b",".join(fields))


def _to_plain(value: str, type_: DataType) -> Column:
    """Return a column that Python can hold: a time may be beyond its own."""
    column = F.expr(value)
    is_time = isinstance(type_, DateType | TimestampType | TimestampNTZType)
    return column.cast("string") if is_time else column


def _simplify(value: Any) -> Any:
    if isinstance(value, bytearray):
        return bytes(value)
    if isinstance(value, list):
        return [_simplify(each) for each in value]
    if isinstance(value, dict):
        return {name: _simplify(each) for name, each in value.items()}
    return value


@cache
def _make_shape(key: tuple[str, ...]) -> RowShape:
    return replace(
        RowShape(),
        key=key,
        key_name=_KEY if len(key) > 1 else None,
        sort_name=None,
        event_time=None,
        mode=Mode.UPSERT,
        key_format=KeyFormat.AVRO,
    )
