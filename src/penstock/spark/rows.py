"""What sinks are given: the decoded records of a batch, each with where it came from.

    event              struct: the record as the merge of all versions has it, that schema beside it
    _topic             string
    _kafka_partition   int      (Iceberg keeps the name `_partition` for itself)
    _offset            bigint
    _kafka_timestamp   timestamp
    _schema_id         string
    _schema_version    int
    _key, _value       binary: the record as it was, for one that a table refuses
    _headers           array<struct<key: string, value: binary>>, null where there are none

The last three are for sinks that write rows one by one; the others ignore them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final, Protocol

from pyspark.sql import Column, DataFrame
from pyspark.sql.types import StructType

from penstock.errors import Reason, SettingsError
from penstock.schemas import Schema
from penstock.tables import BatchId

_SCHEMA_KEY: Final = "avro"
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


class Sink(Protocol):
    """Where the rows of a batch end up, once, however often they are written."""

    def write(self, rows: DataFrame, batch: BatchId, part: int) -> Mapping[Reason, int]:
        """Write rows of the columns above; a batch may come in parts, numbered from 0.

        Returns:
            How many records the sink refused and gave up itself, by reason.
        """


class Fence(Protocol):
    """What tells a writer whether it may still write, however long it stalled."""

    @property
    def fence(self) -> int:
        """Return the fencing number."""

    def check(self) -> None:
        """Raise CheckpointTakenError where another job has taken over."""


def name_event(record: Column, schema: Schema) -> Column:
    """Call a decoded struct the event, and put the schema that it was read with beside it."""
    return record.alias(EVENT, metadata={_SCHEMA_KEY: json.dumps(schema)})


def event_schema(rows: DataFrame) -> Schema:
    """Return the schema that events were read with.

    Raises:
        SettingsError: a transform has changed the events.
    """
    metadata = rows.schema[EVENT].metadata
    if _SCHEMA_KEY not in metadata:
        raise SettingsError(
            [
                f"the transform returns another {EVENT} than it was given, expected it as it was "
                "decoded: rows of DynamoDB are made of it by its schema"
            ]
        )
    schema: Schema = json.loads(metadata[_SCHEMA_KEY])
    return schema


def event_type(rows: DataFrame) -> StructType:
    """Give the type of the events."""
    type_ = rows.schema[EVENT].dataType
    return type_ if isinstance(type_, StructType) else StructType()
