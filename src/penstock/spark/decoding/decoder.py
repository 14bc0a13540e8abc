"""Decode records of any number of schema versions to columns, by one function in Java.

A call of the function looks up a record's version, inflates and decodes its payload and checks it,
within the stage that Spark compiles (docs/adr/0010-decode-in-java.md).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from penstock.records import Projection
from penstock.registry import SchemaVersion
from penstock.schemas import Schema, merge_schemas
from penstock.spark.columns import to_spark
from penstock.spark.decoding.columns import EventColumns
from penstock.spark.decoding.frames import STAYS_HERE, FrameStatus, RowStatus
from penstock.spark.decoding.jar import CATALOG, CATALOG_CLASS, load_jar
from penstock.spark.decoding.plans import MergedType, write_plan
from penstock.spark.rows import PLACE, keep_raw, mark_event
from penstock.tables import read_event

_VERSION: Final = (
    "record.version.id AS _schema_id",
    "record.version.number AS _schema_version",
)
_EVENT: Final = "record.event"


class Decoder:
    """Decodes the versions that it was built with; used for every batch until there are more.

    With `columns`, events are those of a staged table, and frames have the column of its constant.

    Raises (when built):
        SchemaConflictError: the versions contradict each other.
        SettingsError: the session cannot load the jar.
    """

    def __init__(
        self,
        spark: SparkSession,
        versions: Sequence[SchemaVersion],
        columns: Projection | None = None,
    ) -> None:
        load_jar(spark)
        self.versions = tuple(versions)
        merged = merge_schemas([each.schema for each in versions])
        chosen = None if columns is None else EventColumns(columns, merged)
        self.schema, root = merged, MergedType.of(merged)
        self.width = root.width
        jvm: Any = spark.sparkContext._jvm
        # The catalog keeps a function as long as somebody holds it.
        self.function = getattr(jvm, CATALOG_CLASS).add(_define(versions, merged, root))
        catalog = CATALOG.rpartition(".")[2]
        self._call = f"{catalog}.{self.function.name()}(schema, compression, payload)"
        is_empty = chosen.find_empty(_EVENT) if chosen else ""
        self.is_empty = f"({is_empty or 'FALSE'}) AS _is_empty"
        self._status = F.expr(f"""
            CASE WHEN {STAYS_HERE} THEN status
                 WHEN status <> '{FrameStatus.FRAMED}' THEN status
                 WHEN record.status <> '{RowStatus.DECODED}' THEN record.status
                 {f"WHEN {is_empty} THEN '{RowStatus.EMPTY}'" if is_empty else ""}
                 ELSE '{RowStatus.DECODED}' END""")
        self._event = mark_event(chosen.write_event(_EVENT) if chosen else F.expr(_EVENT))

    def decode(self, frames: DataFrame) -> DataFrame:
        """Add the column `record` to frames, and update their `status`."""
        return frames.withColumn("record", F.expr(self._call)).withColumn("status", self._status)

    def select(self, decoded: DataFrame) -> DataFrame:
        """Return the rows of decoded records, with the columns of `penstock.spark.rows`."""
        return self.project(decoded.filter(F.col("status") == RowStatus.DECODED.value))

    def project(self, decoded: DataFrame, *more: Column) -> DataFrame:
        """Select the columns of `penstock.spark.rows`, followed by `more`."""
        own = (*PLACE, *_VERSION, *keep_raw(decoded))
        return decoded.select(self._event, *map(F.expr, own), *more)


def _define(versions: Sequence[SchemaVersion], merged: Schema, root: MergedType) -> str:
    """Return the definition of the function for these versions, as JSON."""
    plans = [
        {
            "key": each.key.pack().hex(),
            "id": str(each.key),
            "number": each.number,
            "plan": write_plan(each.schema, root),
        }
        for each in versions
    ]
    return json.dumps({"event": to_spark(read_event(merged)).json(), "versions": plans})
