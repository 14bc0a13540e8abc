"""The rows of the consumer's table: read, compare with the events sent, and show."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from boto3.dynamodb.types import TypeDeserializer
from botocore.exceptions import BotoCoreError, ClientError

from demo.accounts import Account
from demo.screen import StepFailedError

_ITEM = TypeDeserializer()

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Sent:
    """An event that the producer function has written, and the function's answer."""

    event: dict[str, Any]
    answer: dict[str, Any]

    @property
    def source(self) -> str:
        """Return the record's coordinates, which are in its row."""
        return "{topic}/{partition}/{offset}".format(**self.answer)

    def describe(self) -> Row:
        """Return the cells of the printed table: the event and its schema version."""
        schema = self.answer["schema"]
        return {
            "event": json.dumps(self.event, default=_number),
            "version": schema["version"],
            "new": "yes" if schema["created"] else "",
            "record": self.source,
        }


def read_rows(consumer: Account, table: str) -> dict[str, Row]:
    """Return all rows of the consumer's table by the record that each comes from.

    Raises:
        StepFailedError: the table cannot be read.
    """
    return read_table(consumer, table, "_source")


def read_table(consumer: Account, table: str, key: str) -> dict[str, Row]:
    """Return all rows of a table by one of their attributes.

    Raises:
        StepFailedError: the table cannot be read.
    """
    try:
        pages = consumer.client("dynamodb").get_paginator("scan").paginate(TableName=table)
        items = [item for page in pages for item in page["Items"]]
    except (BotoCoreError, ClientError) as error:
        raise StepFailedError(f"{consumer.where}, table {table}", f"{error}") from error
    rows = [{name: _ITEM.deserialize(value) for name, value in item.items()} for item in items]
    return {row[key]: row for row in rows}


def find_wrong_rows(
    sent: Sequence[Sent], before: dict[str, Row], after: dict[str, Row]
) -> list[str]:
    """Return a line for each row that is wrong, missing or unexpected, value by value.

    An old row must be unchanged.
    """
    wrong = [f"{source}: changed" for source in before if after.get(source) != before[source]]
    new = {source: row for source, row in after.items() if source not in before}
    for one in sent:
        row = new.pop(one.source, {})
        wanted = _drop_nulls(one.event) | {"_schema": one.answer["schema"]["version"]}
        if (found := _drop_nulls(_fields(row))) != wanted:
            wrong.append(f"{one.source}: {found}, expected {wanted}")
    return wrong + [f"{source}: unexpected row" for source in new]


def show_row(row: Row) -> Row:
    """Return a row's values as the printed table shows them."""
    return {
        name: json.dumps(value, default=_number) if isinstance(value, dict | list) else value
        for name, value in row.items()
    }


def _number(value: Decimal) -> int | float:
    """Return a number of DynamoDB as JSON shows it."""
    return int(value) if value == value.to_integral_value() else float(value)


def _fields(row: Row) -> Row:
    """Return the event's fields in a row, and the version."""
    own = {"deviceId", "readingId", "timestamp"}
    return {
        name: value
        for name, value in row.items()
        if name == "_schema" or (name not in own and not name.startswith("_"))
    }


def _drop_nulls(value: Any) -> Any:
    """Drop nulls at every level: a row need not have them."""
    if isinstance(value, list):
        return [_drop_nulls(item) for item in value]
    if isinstance(value, dict):
        return {name: _drop_nulls(item) for name, item in value.items() if item is not None}
    return value
