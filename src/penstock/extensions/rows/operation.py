"""A few rows of a table of DynamoDB: those of a key, or any."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, Final

from penstock.errors import OperationError, SinkRefusedError
from penstock.operations import open_database
from penstock.records import DELETED
from penstock.sinks import DynamoDbClient, query_rows

_ROWS_OF_A_PAGE: Final = 1_000


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row: its key attributes, the record that it comes from, and its other attributes.

    `source` is None in a table that Penstock does not write. A deleted row has no other attributes.
    """

    key: Mapping[str, Any]
    source: str | None
    deleted: bool
    value: Mapping[str, Any]


def read_table(table: str, key: str = "", most: int = 100) -> Iterator[TableRow]:
    """Yield rows of a table: those with this partition key by their sort key, or any.

    Args:
        table: its name.
        key: the value of the partition key; empty for rows of all keys.
        most: how many rows are read.

    Raises:
        OperationError: there is no such table.
        SinkAccessDeniedError, SinkUnavailableError: the table cannot be read.
    """
    client = open_database()
    names = _read_key(client, table)
    request: dict[str, Any] = {"TableName": table, "Limit": min(most, _ROWS_OF_A_PAGE)}
    operation = "Scan"
    if key:
        (name, kind), *_ = names.items()
        operation = "Query"
        request |= {
            "KeyConditionExpression": "#key = :key",
            "ExpressionAttributeNames": {"#key": name},
            "ExpressionAttributeValues": {":key": {kind: key}},
        }
    pages = query_rows(client, request, operation)
    for row in islice(chain.from_iterable(pages), most):
        others = {name: value for name, value in row.items() if name not in {*names, DELETED}}
        yield TableRow(
            {name: row[name] for name in names}, row.get("_source"), DELETED in row, others
        )


def _read_key(client: DynamoDbClient, table: str) -> dict[str, str]:
    """Return the names of a table's key attributes, each with its type."""
    try:
        answer = client.call("DescribeTable", json.dumps({"TableName": table}).encode())
    except SinkRefusedError as error:
        raise OperationError(f"{table} cannot be read: {error}") from error
    found = answer["Table"]
    types = {each["AttributeName"]: each["AttributeType"] for each in found["AttributeDefinitions"]}
    names = [each["AttributeName"] for each in found["KeySchema"]]
    return {name: types[name] for name in names}
