"""When an event happened: its own time where it tells one, else Kafka's."""

from __future__ import annotations

from typing import Final

from pyspark.sql.types import (
    DateType,
    IntegerType,
    LongType,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from penstock.spark._conversion import quote
from penstock.spark._names import EVENT

EVENT_TIME: Final = "_event_time"
# The 13 digits that a reading's key has for it; beyond lies the year 2286.
_MAX_MILLISECONDS: Final = 10**13 - 1


def write_event_time(event: StructType, field: str) -> str:
    """Write the SQL of an event's time; `field` holds it, as milliseconds or a date or timestamp.

    A clock that is wrong loses no row: what is absent or no time is taken from Kafka.
    """
    type_ = event[field].dataType if field in event.names else None
    value = f"{EVENT}.{quote(field)}"
    if isinstance(type_, IntegerType | LongType):
        told = f"IF({value} BETWEEN 0 AND {_MAX_MILLISECONDS}, TIMESTAMP_MILLIS({value}), NULL)"
    elif isinstance(type_, DateType | TimestampType | TimestampNTZType):
        told = f"CAST({value} AS TIMESTAMP)"
    else:
        return "_kafka_timestamp"
    return f"COALESCE({told}, _kafka_timestamp)"
