"""Updates of rows, each if the row is as a condition says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from penstock.errors import RowExistsError, SinkRefusedError
from penstock.sinks.dynamodb_client import DynamoDbClient
from penstock.sinks.item_json import write_item
from penstock.sinks.row_reader import RowAddress

# The address, the update expression, the condition, and the values of both.
Update = tuple[RowAddress, str, str, Mapping[str, Any]]


def update_row(
    client: DynamoDbClient,
    address: RowAddress,
    update: str,
    condition: str,
    values: Mapping[str, Any],
) -> bool:
    """Update a row or make a missing one; return False if it is not as the condition says.

    In both expressions, `#name` is the attribute `name`, as many plain names are reserved words.

    Raises:
        SinkRefusedError: DynamoDB refuses the request.
        SinkAccessDeniedError, SinkUnavailableError: the row may be updated.
    """
    try:
        client.call("UpdateItem", _write_update(address, update, condition, values))
    except RowExistsError:
        return False
    return True


def update_each(client: DynamoDbClient, updates: Iterable[Update]) -> list[bool]:
    """Make updates as `update_row` does, 25 at once; return of each what it returns.

    Raises:
        SinkError: as in `update_row`; other rows may be updated too.
    """
    changed = []
    for error in client.call_each("UpdateItem", (_write_update(*update) for update in updates)):
        if isinstance(error, SinkRefusedError):
            raise error
        changed.append(error is None)
    return changed


def _write_update(
    address: RowAddress, update: str, condition: str, values: Mapping[str, Any]
) -> bytes:
    names = {f"#{name}": name for name in re.findall(r"#(\w+)", f"{update} {condition}")}
    request = {
        "TableName": address.table,
        "Key": {name: {"S": value} for name, value in address.key},
        "UpdateExpression": update,
        "ConditionExpression": condition,
        **({"ExpressionAttributeNames": names} if names else {}),
        "ExpressionAttributeValues": json.loads(write_item(values)),
    }
    return json.dumps(request).encode()
