"""The columns of the rows that sinks receive: a decoded record and its Kafka coordinates.

    event              struct: the record in the merge of the versions
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

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, Protocol

from pyspark.sql import Column, DataFrame
from pyspark.sql.types import StructType

from penstock.errors import SettingsError
from penstock.records import Record, Source

EVENT: Final = "event"
# The place of a record, from the columns of Kafka's source.
PLACE: Final = (
    "topic AS _topic",
    "partition AS _kafka_partition",
    "offset AS _offset",
    "timestamp AS _kafka_timestamp",
)
# The last one that Spark's timestamps have, which stands for all later ones (RecordColumns.java).
LAST_MILLISECOND: Final = (2**63 - 1) // 1000
_MARK: Final = {"penstock": "decoded"}
_HEADERS: Final = "ARRAY<STRUCT<key: STRING, value: BINARY>>"
# Kafka accepts timestamps that Python's datetime cannot hold.
_KAFKA: Final = (
    *("topic", "partition", "offset", "key", "value"),
    "unix_millis(timestamp) AS timestamp_ms",
)
# The raw records of rows, with the columns of Kafka's source; `to_record` reads them.
RAW: Final = (
    "_topic AS topic",
    "_kafka_partition AS partition",
    "_offset AS offset",
    "_key AS key",
    "_value AS value",
    "_headers AS headers",
    "unix_millis(_kafka_timestamp) AS timestamp_ms",
)


class Fence(Protocol):
    """A fencing check: it tells a writer that may have stalled whether it may still write."""

    @property
    def fence(self) -> int:
        """Return the fencing number."""

    def check(self) -> None:
        """Raise CheckpointInUseError if another job has taken over."""


@contextmanager
def while_held(lease: Fence) -> Iterator[None]:
    """Check the lease before a write, and after one that succeeds.

    Raises:
        CheckpointInUseError: another job has taken the lease.
    """
    lease.check()
    yield
    # The driver may have stalled in the write; without the lease it must not continue.
    lease.check()


def mark_event(event: Column) -> Column:
    """Return a decoded struct as the column `event`, with a mark that a changed one loses."""
    return event.alias(EVENT, metadata=_MARK)


def check_event(rows: DataFrame) -> None:
    """Check that no transform has replaced the events, for a sink that makes rows of raw records.

    Raises:
        SettingsError: a transform has replaced the events.
    """
    if rows.schema[EVENT].metadata != _MARK:
        raise SettingsError(
            [
                f"the transform returns another {EVENT} than it was given, expected it as it was "
                "decoded: rows of DynamoDB are made of raw records"
            ]
        )


def event_type(rows: DataFrame) -> StructType:
    """Return the type of the column with the events."""
    type_ = rows.schema[EVENT].dataType
    return type_ if isinstance(type_, StructType) else StructType()


def keep_raw(records: DataFrame) -> tuple[str, ...]:
    """Return the raw record as columns of a row, from the columns of Kafka's source."""
    headers = "headers" if "headers" in records.columns else f"CAST(NULL AS {_HEADERS})"
    return "key AS _key", "value AS _value", f"{headers} AS _headers"


def select_records(records: DataFrame, *more: str) -> DataFrame:
    """Select the columns of Kafka's source that `to_record` reads, and `more` of them."""
    headers = {"headers"} & set(records.columns)
    return records.selectExpr(*_KAFKA, *headers, *more)


def to_record(row: Any) -> Record:
    """Return the record of a row of `select_records`, or of one with the columns `RAW`."""
    headers = row["headers"] if "headers" in row else None
    return Record(
        Source(row["topic"], row["partition"], row["offset"]),
        to_bytes(row["key"]),
        to_bytes(row["value"]),
        tuple((each["key"], to_bytes(each["value"])) for each in headers or ()),
        row["timestamp_ms"],
    )


def to_bytes(value: bytearray | None) -> bytes | None:
    """Return bytes that Java pickled."""
    return None if value is None else bytes(value)
