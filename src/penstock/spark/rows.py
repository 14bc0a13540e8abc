"""The columns of the rows that sinks receive: a decoded record and its Kafka coordinates.

    event              struct: the record in the merged schema, which is in the column's metadata
    _topic             string
    _kafka_partition   int      (Iceberg reserves the name `_partition`)
    _offset            bigint
    _kafka_timestamp   timestamp
    _schema_id         string
    _schema_version    int
    _key, _value       binary: the raw record, for one that a table rejects
    _headers           array<struct<key: string, value: binary>>, null if there are none

The last three are for sinks that write rows one by one; other sinks ignore them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final, Protocol

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from penstock.errors import Reason, SettingsError
from penstock.schemas import Schema
from penstock.tables import BatchId

_SCHEMA_KEY: Final = "avro"
EVENT: Final = "event"
# The raw record.
RAW: Final = ("_key", "_value", "_headers")


class Sink(Protocol):
    """A destination for the rows of a batch; writes are idempotent."""

    def write(self, rows: DataFrame, batch: BatchId, part: int) -> Mapping[Reason, int]:
        """Write rows with the columns above; a batch may come in parts, numbered from 0.

        Returns:
            The number of records that the sink rejected and gave up itself, by reason.
        """


class Fence(Protocol):
    """A fencing check: it tells a writer that may have stalled whether it may still write."""

    @property
    def fence(self) -> int:
        """Return the fencing number."""

    def check(self) -> None:
        """Raise CheckpointTakenError if another job has taken over."""


def name_event(record: Column, schema: Schema) -> Column:
    """Name a decoded struct `event`, with the schema it was read with in its metadata."""
    return record.alias(EVENT, metadata={_SCHEMA_KEY: json.dumps(schema)})


def event_schema(rows: DataFrame) -> Schema:
    """Return the schema that events were read with.

    Raises:
        SettingsError: a transform has replaced the events.
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


def with_milliseconds(rows: DataFrame) -> DataFrame:
    """Return rows with `_kafka_timestamp` in milliseconds.

    Kafka accepts timestamps that Python's datetime cannot hold.
    """
    return rows.withColumn("_kafka_timestamp", F.unix_millis("_kafka_timestamp"))


def event_type(rows: DataFrame) -> StructType:
    """Return the type of the events."""
    type_ = rows.schema[EVENT].dataType
    return type_ if isinstance(type_, StructType) else StructType()
