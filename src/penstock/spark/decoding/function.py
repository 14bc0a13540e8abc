"""Read records of all versions by a function in Java, where the session has its jar.

The jar is optional: penstock-decoder.jar, with the setting `spark.sql.catalog.penstock_decoder`. A
call of the function looks up a record's version, inflates and decodes its payload and judges it,
within the stage that Spark compiles (docs/adr/20261124-decoder-in-java.md).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from penstock.registry import SchemaVersion
from penstock.schemas import Schema
from penstock.spark.decoding.columns import EventColumns
from penstock.spark.decoding.frames import RowStatus
from penstock.spark.decoding.plans import write_plan
from penstock.spark.decoding.reader_schema import Place, Reader, write_reader
from penstock.spark.decoding.reader_sql import measure_width, write_value

_NAME: Final = "penstock_decoder"
CATALOG: Final = f"spark.sql.catalog.{_NAME}"
CATALOG_CLASS: Final = "penstock.spark.DecoderCatalog"
_EVENT: Final = "record.event"


def has_function(spark: SparkSession) -> bool:
    """Return whether a session has the jar, as its settings say."""
    return spark.conf.get(CATALOG, None) == CATALOG_CLASS


class FunctionReading:
    """The columns and conditions by which the function reads records, compressed ones too."""

    inflates = True

    def __init__(
        self,
        spark: SparkSession,
        versions: Sequence[SchemaVersion],
        merged: Schema,
        columns: EventColumns | None,
    ) -> None:
        reader = Reader(merged)
        for at, each in enumerate(versions):
            reader.add(at, each.schema)
        jvm: Any = spark.sparkContext._jvm
        # The catalog keeps a function as long as somebody holds it.
        self._function = getattr(jvm, CATALOG_CLASS).add(_define(spark, versions, reader.root))
        call = f"{_NAME}.{self._function.name()}(schema, compression, payload)"
        self.helpers: dict[str, Column] = {
            "record": F.expr(call),
            "version": F.col("record.version"),
        }
        cases = [f"WHEN record.status <> '{RowStatus.DECODED}' THEN record.status"]
        if columns and (empty := columns.find_empty(reader.root, _EVENT)):
            cases.append(f"WHEN {empty} THEN '{RowStatus.EMPTY}'")
        self.cases = " ".join(cases)
        self.width = measure_width(reader.root)
        self.event = _EVENT
        if columns:
            self.event = columns.write_event(reader.root, _EVENT, lambda _, sql: sql)


def _define(spark: SparkSession, versions: Sequence[SchemaVersion], root: Place) -> str:
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
    return json.dumps({"event": _find_type(spark, root), "versions": plans})


def _find_type(spark: SparkSession, root: Place) -> str:
    """Return the type of events, as Spark's SQL makes them from what Avro reads."""
    record = from_avro(F.lit(None).cast("binary"), json.dumps(write_reader(root)))
    event = F.expr(write_value(root, "record")).alias("event")
    found: Any = spark.range(0).select(record.alias("record")).select(event)
    type_: str = found._jdf.schema().apply("event").dataType().json()
    return type_
