"""Sinks for records that a table may have already (docs/adr/20261121-replay.md).

Before rows are added, the table is searched for rows with the same topic, partition, offset and
Kafka timestamp. The timestamp is needed because a recreated topic has the same offsets again.
DynamoDB tables need none of this, because their keys follow from the record.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from hashlib import sha256
from operator import or_
from typing import Any, Final

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from penstock.errors import Reason
from penstock.spark.lake.lake import Lake
from penstock.spark.lake.parquet import ParquetFiles
from penstock.tables import COORDINATES, BatchId

_PLACE: Final = ("_topic", "_kafka_partition", "_offset")
_KEY: Final = (*_PLACE, "_kafka_timestamp")


@dataclass(frozen=True, slots=True)
class ReplayedLake:
    """A lake table that skips rows it has already."""

    lake: Lake

    def write(self, rows: DataFrame, batch: BatchId, part: int) -> Mapping[Reason, int]:
        """Append the rows that are missing from the table."""
        missing = drop_present(rows, self.lake.read())
        keys = sorted(row.key for row in missing.select(_write_key().alias("key")).collect())
        # The same records have the same name, so only one of two replays publishes them. Rows that
        # the table cannot hold count too, since a column may be widened between the two.
        name = sha256("\n".join(keys).encode()).hexdigest()
        return self.lake.add(missing, name) if keys else {}


@dataclass(frozen=True, slots=True)
class ReplayedFiles:
    """A folder of Parquet files that skips rows it has already."""

    spark: SparkSession
    files: ParquetFiles

    def write(self, rows: DataFrame, batch: BatchId, part: int) -> Mapping[Reason, int]:
        """Write the rows that are missing to a folder of their own."""
        self.files.settle_replays(self.spark)
        missing = drop_present(rows, self._read())
        return {} if missing.isEmpty() else self.files.replay(missing, batch, part)

    def _read(self) -> DataFrame:
        columns = ", ".join(f"{name} {COORDINATES[name]}" for name in _KEY)
        reader = self.spark.read.schema(columns).option("recursiveFileLookup", "true")
        try:
            return reader.parquet(self.files.path)
        except AnalysisException as error:
            if error.getCondition() != "PATH_NOT_FOUND":
                raise
            return self.spark.createDataFrame([], columns)


def drop_present(rows: DataFrame, table: DataFrame) -> DataFrame:
    """Return the rows that a table lacks; rows are few, and file statistics speed up the search."""
    key = _write_key()
    near = table.filter(_is_among(rows.select(*_PLACE).collect()))
    found = [row.key for row in near.select(key.alias("key")).collect()]
    return rows.filter(~key.isin(found))


def _write_key() -> Column:
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
