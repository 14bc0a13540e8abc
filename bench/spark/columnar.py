"""The prototype of a columnar source: Kafka's records decoded into Spark's column vectors."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyspark
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from bench.spark.ways import COORDINATES, GLUE, NoErrors, Outlet, QuickRegistry
from bench.spark.world import World
from penstock.registry import Registries, SchemaVersion
from penstock.schemas import merge_schemas
from penstock.spark.decoding.decoder import _define
from penstock.spark.decoding.jar import _find_loader
from penstock.spark.decoding.plans import MergedType
from penstock.spark.query.parts import BatchContext, Figures, PartWriter
from penstock.spark.query.source import FETCH_OPTIONS
from penstock.spark.rows import PLACE, keep_raw, mark_event
from penstock.spark.sinks.base import Part
from penstock.spark.sinks.table import Route, Table
from penstock.tables import BatchId, read_event

_ROOT = Path(__file__).resolve().parents[2]
_CLASS = "penstock.spark.columnar.KafkaColumns"


def load_source(world: World) -> None:
    """Compile the prototype and load it into the session, once."""
    jvm: Any = world.spark.sparkContext._jvm
    if (folder := world.folder / "columnar").exists():
        return
    folder.mkdir(parents=True)
    spark = Path(pyspark.__file__).parent / "jars"
    sources = sorted(map(str, (_ROOT / "jars/columnar/src").rglob("*.java")))
    with tempfile.TemporaryDirectory() as classes:
        javac = ["javac", "--release", "17", "-Xlint:-deprecation", "-d", classes]
        path = f"{spark}/*:{_ROOT}/jars/spark/lib/*"
        subprocess.run([*javac, "-cp", path, *sources], check=True)
        jar = folder / "columnar.jar"
        subprocess.run(["jar", "--create", "--file", str(jar), "-C", classes, "."], check=True)
    _find_loader(jvm, str(jar)).addURL(jvm.java.io.File(str(jar)).toURI().toURL())
    context: Any = world.spark.sparkContext._jsc
    context.addJar(str(jar))


def read_columns(
    world: World,
    topic: str,
    records: int,
    definition: str = "",
    *,
    as_jobs: bool = True,
) -> DataFrame:
    """Read about this many of the first records of a topic by the columnar source."""
    end = records // world.partitions
    ranges = {topic: {str(at): [0, end] for at in range(world.partitions)}}
    options = {
        "kafka.bootstrap.servers": world.servers,
        "ranges": json.dumps(ranges),
        **({"definition": definition} if definition else {}),
        **(FETCH_OPTIONS if as_jobs else {}),
    }
    return world.spark.read.format(_CLASS).options(**options).load()


class _Columns:
    """Stands in for the decoder of a part, where records come decoded."""

    def __init__(self, names: Sequence[str]) -> None:
        self._event = F.struct(*(F.col(f"event_{at}").alias(name) for at, name in enumerate(names)))

    def project(self, decoded: DataFrame, *more: Column) -> DataFrame:
        own = (
            *PLACE,
            "schema_id AS _schema_id",
            "schema_version AS _schema_version",
            *keep_raw(decoded),
        )
        return decoded.select(mark_event(self._event), *map(F.expr, own), *more)


class ColumnarProduct:
    """The product's writer of parts over the columnar source."""

    def __init__(self, world: World, versions: Sequence[SchemaVersion], **how: Any) -> None:
        load_source(world)
        self._world, self._versions, self._how = world, tuple(versions), how
        merged = merge_schemas([each.schema for each in versions])
        event = read_event(merged)
        jvm: Any = world.spark.sparkContext._jvm
        definition = _define(versions, merged, MergedType.of(merged))
        self._definition = getattr(jvm, _CLASS).add(definition)
        self._columns: Any = _Columns([each.name for each in event.columns])
        registry: Any = QuickRegistry()
        table = Table((Outlet(),), Route(), "")
        self._writer = PartWriter(table, BatchContext(Registries([registry]), NoErrors()))
        self._number = 0

    def read(self, topic: str, records: int) -> DataFrame:
        """Read records, decoded."""
        return read_columns(self._world, topic, records, self._definition, **self._how)

    def rows(self, topic: str, records: int) -> DataFrame:
        """Return the rows without counting them."""
        decoded = self.read(topic, records).filter("status = 'decoded'")
        return self._columns.project(decoded).select("event.*", *COORDINATES)

    def expect(self, rows: int, topic: str) -> None:
        """Write the records of a topic as a part, and assert how many become rows."""
        self._number += 1
        part = Part(BatchId("bench", self._number), 0, self._versions, GLUE, "")
        figures = Figures()
        self._writer._write_part(part, self.read(topic, rows), self._columns, figures)
        assert figures.rows == rows, f"found {figures.rows} rows, expected {rows}"
