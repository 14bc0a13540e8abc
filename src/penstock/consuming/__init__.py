"""The consumer: Kafka records to rows or dead letters, by one reader and one writer."""

from __future__ import annotations

from penstock.consuming.consumer import Consumed, Consumer, build_consumer
from penstock.consuming.mapping import answer_mapping, count_waiting, read_records
from penstock.consuming.reader import RecordReader, make_key_finder
from penstock.consuming.readers import KnownSchemas, SchemaReader, SchemaReaders, Schemas
from penstock.consuming.settings import ConsumerSettings
from penstock.consuming.writing import (
    MAX_WAITING,
    AfterWrite,
    ErrorSink,
    OutcomeWriter,
    Pace,
    Written,
    WrittenRow,
)

__all__ = [
    "MAX_WAITING",
    "AfterWrite",
    "Consumed",
    "Consumer",
    "ConsumerSettings",
    "ErrorSink",
    "KnownSchemas",
    "OutcomeWriter",
    "Pace",
    "RecordReader",
    "SchemaReader",
    "SchemaReaders",
    "Schemas",
    "Written",
    "WrittenRow",
    "answer_mapping",
    "build_consumer",
    "count_waiting",
    "make_key_finder",
    "read_records",
]
