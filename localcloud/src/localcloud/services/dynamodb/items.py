"""DynamoDB is moto's, except for requests that AWS refuses and moto takes, or takes in part."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import InvalidOperation
from typing import Any, Final

from moto.dynamodb.models import dynamodb_backends
from moto.dynamodb.models.table import Table

from localcloud.door.operations import Call, HttpAnswer, operation
from localcloud.services.dynamodb.expressions import check_expressions
from localcloud.services.dynamodb.values import check_item, check_values, refusal

_MOST_REQUESTS: Final = 25
_PARTS: Final = (("PutRequest", "Item"), ("DeleteRequest", "Key"))


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
@operation("dynamodb", "TransactWriteItems")
@operation("dynamodb", "UpdateItem")
def use_items(call: Call) -> HttpAnswer:
    """Let moto write or find items within the limits of DynamoDB."""
    _check_items(call)
    _check_types(call)
    return call.forward()


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


def _check_types(call: Call) -> None:
    """Refuse a key whose values are of other types than the table's."""
    table = _find_table(call, str(call.params.get("TableName", "")))
    key = call.params.get("Key")
    if table is None or not isinstance(key, dict):
        return  # moto says so
    types = {each["AttributeName"]: each["AttributeType"] for each in table.attr}
    if any(name in types and types[name] not in value for name, value in key.items()):
        raise refusal("The provided key element does not match the schema")


def _find_table(call: Call, name: str) -> Table | None:
    backend = dynamodb_backends[call.owner or call.account][call.region]
    return backend.tables.get(name.rpartition("/")[2])


def _check_keys(call: Call, name: str, requests: list[dict[str, Any]]) -> None:
    """Refuse a batch with two requests for one item."""
    table = _find_table(call, name)
    if table is None:
        return  # moto says so
    written = [each[kind][part] for each in requests for kind, part in _PARTS if kind in each]
    keys = [json.dumps([each.get(name) for name in table.table_key_attrs]) for each in written]
    if len(keys) > len(set(keys)):
        raise refusal("Provided list of item keys contains duplicates")
