"""Writers of rows: readings and dead letters in DynamoDB, and bytes too large for a row on S3."""

from __future__ import annotations

from penstock.sinks.dynamodb_client import DynamoDbClient
from penstock.sinks.error_rows import DEFAULT_KEEP_DAYS, ErrorRows
from penstock.sinks.error_table import ErrorTable
from penstock.sinks.given_up import GivenUp, Selection
from penstock.sinks.parked_records import ParkedRecords
from penstock.sinks.parking import Parking
from penstock.sinks.rows import (
    make_error,
    write_detail,
)
from penstock.sinks.table_writer import TableWriter
from penstock.sinks.upsert_writer import RowWriter, UpsertWriter, open_table

__all__ = [
    "DEFAULT_KEEP_DAYS",
    "DynamoDbClient",
    "ErrorRows",
    "ErrorTable",
    "GivenUp",
    "ParkedRecords",
    "Parking",
    "RowWriter",
    "Selection",
    "TableWriter",
    "UpsertWriter",
    "make_error",
    "open_table",
    "write_detail",
]
