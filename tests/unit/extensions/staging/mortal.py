"""A client of tables in memory that dies at one of its calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.stubs.dynamodb_tables import DynamoDbTables, EachCall


class Killed(BaseException):
    """Passes whatever handles errors, as kill -9 does."""


class Mortal(EachCall):
    """A client that dies at one of its calls, before or after the call has its effect."""

    def __init__(self, tables: DynamoDbTables, last: int, performed: bool) -> None:
        self.tables, self.attempts = tables, tables.attempts
        self.last, self.performed, self.made = last, performed, 0

    def call(self, operation: str, body: bytes, read: Callable[[Any], Any] = dict) -> Any:
        self.made += 1
        if self.made != self.last:
            return self.tables.call(operation, body, read)
        if self.performed:
            self.tables.call(operation, body, read)
        raise Killed
