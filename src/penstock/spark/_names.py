"""Names of columns and of the catalog."""

from __future__ import annotations

from typing import Final

LAKE_CATALOG: Final = "lake"
EVENT: Final = "event"
# Columns that every table of readings has, with their types in SQL.
COORDINATES: Final = {
    "_topic": "string",
    "_kafka_partition": "int",
    "_offset": "bigint",
    "_kafka_timestamp": "timestamp",
    "_schema_id": "string",
    "_schema_version": "int",
}
# The record as it was.
RAW: Final = ("_key", "_value", "_headers")
