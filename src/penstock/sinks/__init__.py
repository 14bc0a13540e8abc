"""Writers of rows: readings and dead letters in DynamoDB, and bytes too large for a row on S3."""

from __future__ import annotations

from penstock.sinks.dead_letter import DeadLetter
from penstock.sinks.dynamodb_client import DynamoDbClient
from penstock.sinks.error_table import (
    DEFAULT_KEEP_DAYS,
    JOIN,
    DeadLetterSettings,
    ErrorTable,
    OpenDeadLetters,
    account_tables_setting,
)
from penstock.sinks.function_lease import FunctionLease, FunctionLeaseSettings
from penstock.sinks.item_json import name_type, read_item, write_item
from penstock.sinks.object_store import ObjectStore
from penstock.sinks.parked_records import ParkedRecords
from penstock.sinks.row_reader import ROWS_AT_ONCE, RowAddress, query_rows, read_rows
from penstock.sinks.row_update import Update, update_each, update_row
from penstock.sinks.row_writers import RowWriter, UpsertWriter, open_table, put_items
from penstock.sinks.selection import Selection, SelectionSettings, WhichRows

__all__ = [
    "DEFAULT_KEEP_DAYS",
    "JOIN",
    "ROWS_AT_ONCE",
    "DeadLetter",
    "DeadLetterSettings",
    "DynamoDbClient",
    "ErrorTable",
    "FunctionLease",
    "FunctionLeaseSettings",
    "ObjectStore",
    "OpenDeadLetters",
    "ParkedRecords",
    "RowAddress",
    "RowWriter",
    "Selection",
    "SelectionSettings",
    "Update",
    "UpsertWriter",
    "WhichRows",
    "account_tables_setting",
    "name_type",
    "open_table",
    "put_items",
    "query_rows",
    "read_item",
    "read_rows",
    "update_each",
    "update_row",
    "write_item",
]
