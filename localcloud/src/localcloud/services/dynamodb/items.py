"""DynamoDB is moto's, except for requests that AWS refuses and moto takes, or takes in part."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import InvalidOperation
from typing import Any, Final

from moto.dynamodb.models import DynamoDBBackend, dynamodb_backends
from moto.dynamodb.models.table import Table

from localcloud.door.operations import Call, HttpAnswer, operation
from localcloud.services.dynamodb.expressions import check_expressions
from localcloud.services.dynamodb.values import (
    check_item,
    check_key,
    check_values,
    measure_item,
    refusal,
)

_MOST_REQUESTS: Final = 25
_MOST_TRANSACTED: Final = 4 * 1024 * 1024  # bytes
_PARTS: Final = (("PutRequest", "Item"), ("DeleteRequest", "Key"))


@operation("dynamodb", "BatchGetItem")
def read_batch(call: Call) -> HttpAnswer:
    """Let moto find items by keys that items can have."""
    for table, asked in call.params.get("RequestItems", {}).items():
        for key in asked.get("Keys", []):
            _check_key(call, table, key)
    return call.forward()


@operation("dynamodb", "BatchWriteItem")
def write_batch(call: Call) -> HttpAnswer:
    """Let moto write a batch that DynamoDB would take: it takes all of it or nothing."""
    tables = call.params.get("RequestItems", {})
    if sum(map(len, tables.values())) > _MOST_REQUESTS:
        raise refusal("Too many items requested for the BatchWriteItem call")
    for table, requests in tables.items():
        _check_keys(call, table, requests)
    _check_items(call)
    return call.forward()


@operation("dynamodb", "DeleteItem")
@operation("dynamodb", "GetItem")
@operation("dynamodb", "PutItem")
@operation("dynamodb", "Query")
@operation("dynamodb", "Scan")
@operation("dynamodb", "UpdateItem")
def use_items(call: Call) -> HttpAnswer:
    """Let moto write or find items within the limits of DynamoDB."""
    _check_items(call)
    if "Key" in call.params:
        _check_key(call, str(call.params["TableName"]), call.params["Key"])
    return call.forward()


@operation("dynamodb", "TransactWriteItems")
def write_transaction(call: Call) -> HttpAnswer:
    """Let moto write a transaction within the limits of DynamoDB."""
    _check_items(call)
    try:
        size = sum(_measure_request(call, request) for request in _list_requests(call))
    except (AttributeError, InvalidOperation, KeyError, TypeError, ValueError):
        return call.forward()  # a request without a table, a key or values: moto says so
    if size > _MOST_TRANSACTED:
        raise refusal("The aggregate size of the items in the transaction cannot exceed 4 MB")
    return call.forward()


def _measure_request(call: Call, request: dict[str, Any]) -> int:
    """Return the bytes of an item of a transaction: assumption `transaction-sizes`."""
    if "Item" in request:
        return measure_item(request["Item"])
    key = request["Key"]
    written = measure_item({**key, **request.get("ExpressionAttributeValues", {})})
    return max(written, measure_item(_find_item(call, request["TableName"], key)))


def _find_item(call: Call, name: str, key: dict[str, Any]) -> dict[str, Any]:
    """Return the stored item of a key, or an empty one."""
    table = _find_table(call, name)
    if table is None or key.keys() != {*table.table_key_attrs}:
        return {}
    stored = table.get_item(*_find_backend(call).get_keys_value(table, key))
    found: dict[str, Any] = stored.to_json()["Attributes"] if stored else {}
    return found


def _check_items(call: Call) -> None:
    """Refuse a call with an item, a value or an expression that DynamoDB does not take."""
    try:
        for request in _list_requests(call):
            check_expressions(request)
            check_item(request.get("Item", {}))
            check_values(request.get("ExpressionAttributeValues", {}))
    except (AttributeError, InvalidOperation, TypeError, ValueError):
        pass  # no value of DynamoDB: moto says so


def _list_requests(call: Call) -> Iterator[dict[str, Any]]:
    """Yield the requests of a batch or a transaction, or the call itself."""
    if "RequestItems" in call.params:
        for requests in call.params["RequestItems"].values():
            yield from (each["PutRequest"] for each in requests if "PutRequest" in each)
    elif "TransactItems" in call.params:
        for each in call.params["TransactItems"]:
            yield from each.values()
    else:
        yield call.params


def _check_key(call: Call, name: str, key: dict[str, Any]) -> None:
    """Refuse a key that no item of a table can have."""
    table = _find_table(call, name)
    if table is None:
        return  # moto says so
    types = {each["AttributeName"]: each["AttributeType"] for each in table.attr}
    try:
        check_key(key, {each: types[each] for each in table.table_key_attrs})
    except (AttributeError, InvalidOperation, TypeError, ValueError):
        pass  # no value of DynamoDB: moto says so


def _find_table(call: Call, name: str) -> Table | None:
    return _find_backend(call).tables.get(name.rpartition("/")[2])


def _find_backend(call: Call) -> DynamoDBBackend:
    return dynamodb_backends[call.owner or call.account][call.region]


def _check_keys(call: Call, name: str, requests: list[dict[str, Any]]) -> None:
    """Refuse a batch with two requests for one item."""
    table = _find_table(call, name)
    if table is None:
        return  # moto says so
    for each in requests:
        if "DeleteRequest" in each:
            _check_key(call, name, each["DeleteRequest"]["Key"])
    written = [each[kind][part] for each in requests for kind, part in _PARTS if kind in each]
    keys = [json.dumps([each.get(name) for name in table.table_key_attrs]) for each in written]
    if len(keys) > len(set(keys)):
        raise refusal("Provided list of item keys contains duplicates")
