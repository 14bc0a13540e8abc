"""The fields of a table's primary key, as the keys of its Kafka records name them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from penstock.consuming import SchemaReaders, make_key_finder
from penstock.errors import JobError
from penstock.framing import Framing
from penstock.records import KeyFormat, Record, decode_key
from penstock.spark.rows import RAW, to_record

_JSON: Final = b"{"
_WITH_SCHEMA: Final = {"schema", "payload"}


def find_key(
    rows: DataFrame, framing: Framing, readers: SchemaReaders, topic: str, known: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the names of the fields of the primary key; those `known` if no record has a key.

    The first record and the last one are read: a new primary key has other fields from some record
    on.

    Raises:
        JobError: the key is no record, or is not the one that was known.
        PenstockError: its schema cannot be looked up.
    """
    record = F.struct(*map(F.expr, RAW))
    found = rows.filter("_key IS NOT NULL").agg(
        F.min_by(record, "_offset").alias("first"), F.max_by(record, "_offset").alias("last")
    )
    for each in found.collect()[0]:
        if each is None:
            continue
        value = _decode(to_record(each), framing, readers)
        if not isinstance(value, Mapping) or not value:
            raise JobError(
                f"found a key of {topic} that is {type(value).__name__}, expected a record with the"
                " fields of the primary key; a table without one needs message.key.columns"
            )
        if known and tuple(value) != known:
            raise JobError(
                f"found records of {topic} with the primary key {', '.join(value)}, expected"
                f" {', '.join(known)} as before: write new tables with a new checkpoint, from a"
                " snapshot with the new key"
            )
        known = tuple(value)
    return known


def _decode(record: Record, framing: Framing, readers: SchemaReaders) -> Any:
    key = record.key or b""
    if key.startswith(_JSON):
        value = json.loads(key)
        return value["payload"] if set(value) == _WITH_SCHEMA else value

    return decode_key(KeyFormat.AVRO, record, framing, make_key_finder(readers, record))
