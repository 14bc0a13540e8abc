"""The fields of a table's primary key, as the keys of its Kafka records name them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from pyspark.sql import DataFrame

from penstock.consuming import SchemaReaders, find_key_reader
from penstock.errors import JobError
from penstock.framing import Framing
from penstock.records import KeyFormat, Record, decode_key
from penstock.spark.rows import RAW, to_record

_JSON: Final = b"{"
_WITH_SCHEMA: Final = {"schema", "payload"}


def find_key(
    rows: DataFrame, framing: Framing, readers: SchemaReaders, topic: str
) -> tuple[str, ...]:
    """Return the names of the fields of the primary key; none if no record has a key.

    Raises:
        JobError: the key is no record.
        PenstockError: its schema cannot be looked up.
    """
    found = rows.filter("_key IS NOT NULL").selectExpr(*RAW).limit(1).collect()
    if not found:
        return ()
    value = _decode(to_record(found[0]), framing, readers)
    if not isinstance(value, Mapping) or not value:
        raise JobError(
            f"found a key of {topic} that is {type(value).__name__}, expected a record with the"
            " fields of the primary key; a table without one needs message.key.columns"
        )
    return tuple(value)


def _decode(record: Record, framing: Framing, readers: SchemaReaders) -> Any:
    key = record.key or b""
    if key.startswith(_JSON):
        value = json.loads(key)
        return value["payload"] if set(value) == _WITH_SCHEMA else value

    return decode_key(
        KeyFormat.AVRO, record, framing, lambda each: find_key_reader(readers, each, record)
    )
