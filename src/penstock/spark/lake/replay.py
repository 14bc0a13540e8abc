"""The search for records that a table may have already (docs/adr/0016-ask-before-replay.md).

Before rows are added, the table is searched for rows with the same topic, partition, offset and
Kafka timestamp. The timestamp is needed because a recreated topic has the same offsets again.
DynamoDB tables need none of this, because their keys follow from the record.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import reduce
from operator import or_
from typing import Any, Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

_PLACE: Final = ("_topic", "_kafka_partition", "_offset")


def drop_present(rows: DataFrame, table: DataFrame) -> DataFrame:
    """Return the rows that a table lacks; rows are few, and file statistics speed up the search."""
    key = write_key()
    near = table.filter(_is_among(rows.select(*_PLACE).collect()))
    found = [row.key for row in near.select(key.alias("key")).collect()]
    return rows.filter(~key.isin(found))


def write_key() -> Column:
    """Return the place of a record as text."""
    return F.concat_ws("/", *_PLACE, F.unix_millis("_kafka_timestamp"))


def _is_among(places: Iterable[Any]) -> Column:
    offsets: dict[tuple[str, int], list[int]] = defaultdict(list)
    for topic, partition, offset in places:
        offsets[topic, partition].append(offset)
    # Statistics of files cannot exclude a long list; they can exclude its bounds.
    conditions = [
        (F.col("_topic") == topic)
        & (F.col("_kafka_partition") == partition)
        & F.col("_offset").between(min(own), max(own))
        & F.col("_offset").isin(own)
        for (topic, partition), own in offsets.items()
    ]
    return reduce(or_, conditions, F.lit(False))
