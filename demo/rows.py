"""The rows of the consumer's table: read, compared with what was sent, and shown."""

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
    """An event that the producer function has written, and what the function answered."""

    event: dict[str, Any]
    answer: dict[str, Any]

    @property
    def source(self) -> str:
        """The record's coordinates, which its row carries."""
        return "{topic}/{partition}/{offset}".format(**self.answer)

    def describe(self) -> Row:
        """Say for the table what was sent and under which version."""
        schema = self.answer["schema"]
        return {
            "event": json.dumps(self.event, default=_number),
            "version": schema["version"],
            "new": "yes" if schema["created"] else "",
            "record": self.source,
        }


def read_rows(consumer: Account, table: str) -> dict[str, Row]:
    """Read all rows of the consumer's table by the records that they come from.

    Raises:
        StepFailedError: the table cannot be read.
    """
    return read_table(consumer, table, "_source")


def read_table(consumer: Account, table: str, key: str) -> dict[str, Row]:
    """Read all rows of a table by one of their attributes.

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
    """Compare the table with what was sent, value by value: what is wrong, missing, one too many.

    An old row must be as it was.
    """
    wrong = [f"{source}: was changed" for source in before if after.get(source) != before[source]]
    new = {source: row for source, row in after.items() if source not in before}
    for one in sent:
        row = new.pop(one.source, {})
        wanted = _drop_nulls(one.event) | {"_schema": one.answer["schema"]["version"]}
        if (found := _drop_nulls(_fields(row))) != wanted:
            wrong.append(f"{one.source}: {found}, expected {wanted}")
    return wrong + [f"{source}: nobody sent it" for source in new]


def show_row(row: Row) -> Row:
    """Write a row's values as the table shows them."""
    return {
        name: json.dumps(value, default=_number) if isinstance(value, dict | list) else value
        for name, value in row.items()
    }


def _number(value: Decimal) -> int | float:
    """Show one of DynamoDB's numbers as JSON does."""
    return int(value) if value == value.to_integral_value() else float(value)


def _fields(row: Row) -> Row:
    """What a row has of its event, and the version."""
    own = {"deviceId", "readingId", "timestamp"}
    return {
        name: value
        for name, value in row.items()
        if name == "_schema" or (name not in own and not name.startswith("_"))
    }


def _drop_nulls(value: Any) -> Any:
    """A null says nothing, wherever it stands: a row need not have it."""
    if isinstance(value, list):
        return [_drop_nulls(item) for item in value]
    if isinstance(value, dict):
        return {name: _drop_nulls(item) for name, item in value.items() if item is not None}
    return value
