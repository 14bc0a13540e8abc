"""Sinks for records that a table may have already (docs/adr/20261121-replay.md).

A row is there when one of its topic, partition, offset and time in Kafka is: a topic that was made
anew has its offsets again. That is asked before any is added. A table of DynamoDB needs none of
this, since its keys follow from the record.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any, Final

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from penstock.errors import Reason
from penstock.spark.lake.lake import Lake
from penstock.spark.lake.parquet import ParquetFiles
from penstock.spark.rows import COORDINATES
from penstock.tables import BatchId

_PLACE: Final = ("_topic", "_kafka_partition", "_offset")
_KEY: Final = (*_PLACE, "_kafka_timestamp")


@dataclass(frozen=True, slots=True)
class ReplayedLake:
    """A table of the lake."""

    lake: Lake

    def write(self, rows: DataFrame, batch: BatchId, part: int) -> Mapping[Reason, int]:
        """Append the rows that are not there."""
        missing = drop_present(rows, self.lake.read())
        if not missing.isEmpty():
            self.lake.add(missing)
        return {}


@dataclass(frozen=True, slots=True)
class ReplayedFiles:
    """A folder of Parquet files."""

    spark: SparkSession
    path: str
    files: ParquetFiles

    def write(self, rows: DataFrame, batch: BatchId, part: int) -> Mapping[Reason, int]:
        """Write the rows that are not there into a folder of their own."""
        missing = drop_present(rows, self._read())
        return {} if missing.isEmpty() else self.files.write(missing, batch, part)

    def _read(self) -> DataFrame:
        columns = ", ".join(f"{name} {COORDINATES[name]}" for name in _KEY)
        reader = self.spark.read.schema(columns).option("recursiveFileLookup", "true")
        try:
            return reader.parquet(self.path)
        except AnalysisException as error:
            if error.getCondition() != "PATH_NOT_FOUND":
                raise
            return self.spark.createDataFrame([], columns)


def drop_present(rows: DataFrame, table: DataFrame) -> DataFrame:
    """Leave out the rows that a table has; these are few, and it has statistics to find them by."""
    key = F.concat_ws("/", *_PLACE, F.unix_millis("_kafka_timestamp"))
    near = table.filter(_is_among(rows.select(*_PLACE).collect()))
    found = [row.key for row in near.select(key.alias("key")).collect()]
    return rows.filter(~key.isin(found))


def _is_among(places: Iterable[Any]) -> Column:
    offsets: dict[tuple[str, int], list[int]] = defaultdict(list)
    for topic, partition, offset in places:
        offsets[topic, partition].append(offset)
    # A long list says nothing to a file's statistics; its bounds do.
    conditions = [
        (F.col("_topic") == topic)
        & (F.col("_kafka_partition") == partition)
        & F.col("_offset").between(min(own), max(own))
        & F.col("_offset").isin(own)
        for (topic, partition), own in offsets.items()
    ]
    return reduce(or_, conditions, F.lit(False))
