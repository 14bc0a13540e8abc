"""The update of a row, if the row is as a condition says."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from penstock.errors import RowExistsError
from penstock.sinks.dynamodb_client import DynamoDbClient
from penstock.sinks.item_json import write_item
from penstock.sinks.row_reader import RowAddress


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
    names = {f"#{name}": name for name in re.findall(r"#(\w+)", f"{update} {condition}")}
    request = {
        "TableName": address.table,
        "Key": {name: {"S": value} for name, value in address.key},
        "UpdateExpression": update,
        "ConditionExpression": condition,
        **({"ExpressionAttributeNames": names} if names else {}),
        "ExpressionAttributeValues": json.loads(write_item(values)),
    }
    try:
        client.call("UpdateItem", json.dumps(request).encode())
    except RowExistsError:
        return False
    return True
