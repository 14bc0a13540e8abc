"""A DynamoDB table that is equal to a table of the database.

A row has the columns of the database's table, `_lsn` and `_offset`: the place of its last change,
before which no other one is written but for values that this one does not have
(`penstock.extensions.cdc.spark.items`). Its key is the primary key as text, in the attribute of its
column; a key of several columns is joined by `/` in the attribute `_key`. A deleted row keeps its
key and place, has `_deleted`, and `_expiresAt` for the table's TTL.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    DataType,
    DateType,
    MapType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from penstock.errors import RowExistsError, SinkRefusedError, SinkUnavailableError, UnroutableError
from penstock.extensions.cdc.spark.items import OLDER, Item, ItemChange
from penstock.extensions.cdc.spark.net import KEPT, Moment
from penstock.extensions.cdc.spark.sink import ChangeBatch
from penstock.records import DELETED, Mode, RowShape, find_row_key
from penstock.sinks import read_item, write_item
from penstock.spark.columns import read_columns
from penstock.spark.failures import in_chunks, run_task
from penstock.spark.lake.conversion import quote
from penstock.spark.rows import EVENT
from penstock.spark.sinks.dynamodb import open_client

_DAY_SECONDS: Final = 86_400
_KEY: Final = "_key"
_EXPIRES: Final = "_expiresAt"
_TRIES: Final = 5
_NAMES: Final = {"#lsn": "_lsn", "#offset": "_offset"}
_OWN: Final = frozenset((*_NAMES.values(), _KEY, DELETED, _EXPIRES, OLDER))
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
            columns = read_columns(batch.changes.type).columns
            names = {each.name: name_attribute(each.field) for each in columns}
            values = [
                F.expr(f"{EVENT}.{quote(each.name)}")
                .cast(_to_plain(each.dataType))
                .alias(each.name)
                for each in batch.changes.type
            ]
            kept = [quote(each) for each in batch.net.columns if each.startswith(KEPT)]
            rows = batch.net.select(
                F.struct(*values).alias(EVENT), DELETED, "_lsn", "_offset", *kept
            )
            task = _WriteRows(self.table, batch.key, names, batch.long_fields, expires_at)
            run_task(rows, task)
        if batch.log.complete is not None:
            delete_before(self.table, batch.log.complete, expires_at)


def name_attribute(field: str) -> str:
    """Return the attribute of a column: those that say what changed have names of their own."""
    return f"event{field}" if field in _OWN else field


@dataclass(frozen=True, slots=True)
class _WriteRows:
    """The task that writes the net changes of a partition; sent to the executors."""

    table: str
    key: tuple[str, ...]
    names: Mapping[str, str]
    long_fields: tuple[str, ...]
    expires_at: int

    def __call__(self, rows: Iterable[Any]) -> Iterator[None]:
        for chunk in in_chunks(rows):
            write_changes(self.table, self._name_key(), map(self._read_change, chunk))
        yield from ()

    def _read_change(self, row: Any) -> ItemChange:
        key = self._find_key(row)
        if row[DELETED]:
            item = {**key, DELETED: True, _EXPIRES: self.expires_at}
        else:
            item = {**self._read_values(row), **key}
        places = {
            self.names[each]: row[kept] if (kept := f"{KEPT}{each}") in row else row["_lsn"]
            for each in self.long_fields
        }
        return ItemChange(item, row["_lsn"], row["_offset"], places)

    def _find_key(self, row: Any) -> dict[str, str]:
        try:
            return find_row_key(_make_shape(self.key), row[EVENT].asDict())
        except UnroutableError as error:
            raise SinkRefusedError(f"the primary key of a row of {self.table}: {error}") from error

    def _name_key(self) -> str:
        return _KEY if len(self.key) > 1 else self.key[0]

    def _read_values(self, row: Any) -> dict[str, Any]:
        found = row[EVENT].asDict(recursive=True)
        return {self.names[name]: _simplify(value) for name, value in found.items()}


def write_changes(table: str, key: str, changes: Iterable[ItemChange]) -> None:
    """Write changes; one that is older than its item gives it the values that it lacks.

    Raises:
        SinkRefusedError: DynamoDB cannot hold a row, which is named by its attribute `key`.
        SinkAccessDeniedError, SinkUnavailableError: some may be written; write all again.
    """
    client = open_client()
    left = []
    for each in changes:
        with _naming(table, key, each):
            left.append((each, _write_first(table, each)))
    for _ in range(_TRIES):
        outcomes = client.call_each("PutItem", [body for _, body in left])
        refused = [(each, error) for (each, _), error in zip(left, outcomes, strict=True) if error]
        left = []
        for change, error in refused:
            with _naming(table, key, change):
                if not isinstance(error, RowExistsError):
                    raise error
                found = read_item(error.item) if error.item else None
                if (item := change.merge(found)) is not None:
                    left.append((change, _write_over(table, item, found or {})))
        if not left:
            return
    raise SinkUnavailableError(
        f"found {len(left)} rows of {table} that changed in each of {_TRIES} tries, expected no"
        " other writer"
    )


@contextmanager
def _naming(table: str, key: str, change: ItemChange) -> Iterator[None]:
    """Name the row of a change in the error of one that DynamoDB cannot hold."""
    try:
        yield
    except SinkRefusedError as error:
        row = f"the row of {table} with {key} {change.item[key]!r:.200}"
        raise type(error)(f"{row}: {error}") from error


def _write_first(table: str, change: ItemChange) -> bytes:
    """Return the request that writes a change unless it needs what the item has."""
    item = change.replace({})
    if not change.is_whole:
        return _write_over(table, item, {})
    values = {":lsn": change.lsn, ":offset": change.offset}
    return _write_put(table, item, _IS_NEWER, _NAMES, values)


def _write_over(table: str, item: Item, found: Item) -> bytes:
    """Return the request that writes an item unless another change was written since `found`."""
    names = {"#lsn": "_lsn", "#offset": "_offset", "#older": OLDER}
    values = {f":{each[1:]}": found[name] for each, name in names.items() if name in found}
    condition = " AND ".join(
        f"{each} = :{each[1:]}" if name in found else f"attribute_not_exists({each})"
        for each, name in names.items()
    )
    return _write_put(table, item, condition, names, values)


def _write_put(
    table: str, item: Item, condition: str, names: Mapping[str, str], values: Mapping[str, Any]
) -> bytes:
    """Return the request of a conditional write, whose refusal has the item that is there."""
    request = {
        "TableName": table,
        "ConditionExpression": condition,
        "ExpressionAttributeNames": names,
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    written = {"Item": write_item(item)}
    if values:
        written["ExpressionAttributeValues"] = write_item(values)
    fields = [b'"%b":%b' % (name.encode(), text) for name, text in written.items()]
    return b"%b,%b}" % (json.dumps(request).encode()[:-1], b",".join(fields))


def delete_before(table: str, moment: Moment, expires_at: int) -> None:
    """Delete the rows whose last change is before a moment of the log.

    Raises:
        SinkAccessDeniedError, SinkUnavailableError: some may be deleted; delete all again.
    """
    client = open_client()
    found = client.call("DescribeTable", json.dumps({"TableName": table}).encode())
    names = [each["AttributeName"] for each in found["Table"]["KeySchema"]]
    request: dict[str, Any] = {
        "TableName": table,
        "ConsistentRead": True,
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
        own = {DELETED: True, _EXPIRES: expires_at}
        keys = [{name: each[name]["S"] for name in names} for each in page["Items"]]
        deletions = (ItemChange({**key, **own}, moment.lsn, moment.offset, {}) for key in keys)
        write_changes(table, names[0], deletions)
        if "LastEvaluatedKey" not in page:
            return
        request["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def _to_plain(type_: DataType) -> DataType:
    """Return the type with times as text, at any depth: one may be beyond those of Python."""
    match type_:
        case DateType() | TimestampType() | TimestampNTZType():
            return StringType()
        case ArrayType():
            return ArrayType(_to_plain(type_.elementType))
        case MapType():
            return MapType(type_.keyType, _to_plain(type_.valueType))
        case StructType():
            plain = StructType()
            for each in type_:
                plain.add(each.name, _to_plain(each.dataType))
            return plain
    return type_


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
    )
