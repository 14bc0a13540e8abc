"""Kafka records and table rows as values, without a client of any service."""

from __future__ import annotations

from penstock.records.base import base_fields, find_key, list_key_fields, make_base
from penstock.records.keys import FindReader, decode_key, read_key
from penstock.records.outcome import Deletion, Ignored, Outcome, Row, Waiting
from penstock.records.projection import Projection
from penstock.records.record import (
    FUNCTION,
    MAX_TIMESTAMP_MS,
    FailedRecord,
    Record,
    Source,
    read_letter_id,
    write_letter_id,
)
from penstock.records.rows import (
    check_key,
    find_record_id,
    find_row_key,
    make_deletion,
    make_row,
    write_key,
)
from penstock.records.shape import (
    ADDED,
    DELETED,
    ORDER,
    READING,
    DeletedWhen,
    KeyFormat,
    Mode,
    RowShape,
    Tombstone,
    make_staged_shape,
    parse_shapes,
)

__all__ = [
    "ADDED",
    "DELETED",
    "FUNCTION",
    "MAX_TIMESTAMP_MS",
    "ORDER",
    "READING",
    "DeletedWhen",
    "Deletion",
    "FailedRecord",
    "FindReader",
    "Ignored",
    "KeyFormat",
    "Mode",
    "Outcome",
    "Projection",
    "Record",
    "Row",
    "RowShape",
    "Source",
    "Tombstone",
    "Waiting",
    "base_fields",
    "check_key",
    "decode_key",
    "find_key",
    "find_record_id",
    "find_row_key",
    "list_key_fields",
    "make_base",
    "make_deletion",
    "make_row",
    "make_staged_shape",
    "parse_shapes",
    "read_key",
    "read_letter_id",
    "write_key",
    "write_letter_id",
]
