"""Decode records of any number of schema versions to columns, with one expression.

They are read by a union of the versions in Spark's SQL (`union`), or by a function in Java if the
session has its jar (`function`). Both give the same rows, but for records that few have
(docs/adr/20261124-decoder-in-java.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from penstock.records import Projection
from penstock.registry import SchemaVersion
from penstock.schemas import merge_schemas
from penstock.spark.decoding.columns import EventColumns
from penstock.spark.decoding.frames import STAYS_HERE, FrameStatus, RowStatus
from penstock.spark.decoding.function import FunctionReading, has_function
from penstock.spark.decoding.inflating import inflate_payloads
from penstock.spark.decoding.union import INVALID_TEXT, UnionReading
from penstock.spark.rows import name_event

_OWN: Final = (
    "topic AS _topic",
    "partition AS _kafka_partition",
    "offset AS _offset",
    "timestamp AS _kafka_timestamp",
    "version.id AS _schema_id",
    "version.number AS _schema_version",
    "key AS _key",
    "value AS _value",
)
_HEADERS: Final = "ARRAY<STRUCT<key: STRING, value: BINARY>>"


class Decoder:
    """Decodes the versions that it was built with; used for every batch until there are more.

    With `columns`, events are those of a staged table, and frames have the column `staging_time`.

    Raises (when built):
        SchemaConflictError: the versions contradict each other.
        InvalidSchemaError: Spark cannot tell two types of a version apart.
    """

    def __init__(
        self,
        spark: SparkSession,
        versions: Sequence[SchemaVersion],
        columns: Projection | None = None,
    ) -> None:
        self.versions = tuple(versions)
        merged = merge_schemas([each.schema for each in versions])
        chosen = None if columns is None else EventColumns(columns, merged)
        self.schema = merged if chosen is None else chosen.schema()
        self._reading = (
            FunctionReading(spark, versions, merged, chosen)
            if has_function(spark)
            else UnionReading(versions, merged, chosen)
        )
        self._status: Column = F.expr(f"""
            CASE WHEN {STAYS_HERE} THEN status
                 WHEN status <> '{FrameStatus.FRAMED}' THEN status
                 {self._reading.cases} ELSE '{RowStatus.DECODED}' END""")
        self._event: Column = name_event(F.expr(self._reading.event), self.schema)

    @property
    def width(self) -> int:
        """Return the number of values in a record, which the generated code grows with."""
        return self._reading.width

    def inflate(self, frames: DataFrame) -> DataFrame:
        """Inflate the payloads of compressed frames; the function in Java does so as it decodes."""
        return frames if self._reading.inflates else inflate_payloads(frames)

    def decode(self, frames: DataFrame) -> DataFrame:
        """Add the columns `version` and `record` to frames, and update their `status`."""
        for name, column in self._reading.helpers.items():
            frames = frames.withColumn(name, column)
        return frames.withColumn("status", self._status).drop(INVALID_TEXT)

    def select(self, decoded: DataFrame) -> DataFrame:
        """Return the rows of decoded records, with the columns of `penstock.spark.rows`."""
        return self.project(decoded.filter(F.col("status") == RowStatus.DECODED.value))

    def project(self, decoded: DataFrame, *more: Column) -> DataFrame:
        """Select the columns of `penstock.spark.rows`, followed by `more`."""
        headers = "headers" if "headers" in decoded.columns else f"CAST(NULL AS {_HEADERS})"
        own = (*_OWN, f"{headers} AS _headers")
        return decoded.select(self._event, *map(F.expr, own), *more)
