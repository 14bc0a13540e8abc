"""The ways that are compared: the product's, one fixed schema, a union of filters, fastavro.

All return the same columns: those of the event, and where each record came from.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from bench.spark.world import World
from penstock.errors import Reason
from penstock.framing import FrameKind, Framing, SchemaKey
from penstock.registry import Registries, SchemaVersion
from penstock.schemas import merge_schemas
from penstock.spark.decoding.decoder import Decoder
from penstock.spark.decoding.frames import split_frames
from penstock.spark.query.parts import BatchContext
from penstock.spark.query.report import BatchCounts
from penstock.spark.query.table_batches import TableBatches
from penstock.spark.rows import event_type
from penstock.spark.sinks.appends import AppendPlan, AppendSink
from penstock.spark.sinks.base import Capabilities, Part
from penstock.spark.sinks.table import Route, Table
from penstock.spark.state.schema_ledger import Ledger, Lookup, Lookups
from penstock.tables import BatchId

GLUE = Framing(frozenset({FrameKind.GLUE}))
_HEADER = 18
_NOOP = "org.apache.spark.sql.execution.datasources.noop"
COORDINATES = (
    "_topic", "_kafka_partition", "_offset", "_kafka_timestamp", "_schema_id", "_schema_version",
)  # fmt: skip


def to_nowhere(rows: DataFrame) -> None:
    """Compute rows and drop them."""
    rows.write.format("noop").mode("overwrite").save()


@dataclass(frozen=True, slots=True)
class Outlet(AppendSink):
    """A sink that passes the rows of a batch, flat, to a function.

    One that drops them does so in a job with other tables, as the lake writes them.
    """

    take: Callable[[DataFrame], object] = to_nowhere

    @property
    def capabilities(self) -> Capabilities:
        """Say that a job may drop the rows with those of other tables."""
        return Capabilities(shares_job=self.take is to_nowhere)

    def write(self, rows: DataFrame, part: Part) -> Mapping[Reason, int]:
        """Pass the rows on."""
        self.take(rows.select("event.*", *COORDINATES))
        return {}

    def plan(self, rows: DataFrame) -> AppendPlan:
        """Return the writers of Spark's format that drops rows."""
        find = partial(getattr, rows.sparkSession._jvm)
        noop = getattr(find(f"{_NOOP}.NoopBatchWrite$"), "MODULE$")
        event = (f"event.`{each}`" for each in event_type(rows).names)
        return AppendPlan([*event, *COORDINATES], noop.createBatchWriterFactory(None))

    def append(self, plan: AppendPlan, part: Part, messages: Any) -> bool:
        """Commit nothing."""
        return True


class NoErrors:
    """A sink of dead letters that stores nothing."""

    def keep(self, records: Sequence[Any]) -> None:
        """Ignore dead letters."""


@dataclass(frozen=True, slots=True)
class QuickRegistry:
    """A registry that answers at once, with the part of the interface that the product calls."""

    versions: Sequence[SchemaVersion] = ()
    kind: FrameKind = FrameKind.GLUE

    def get(self, key: SchemaKey) -> SchemaVersion:
        """Return a version."""
        return {version.key: version for version in self.versions}[key]


def open_registries(versions: Sequence[SchemaVersion]) -> Registries:
    """Return the registries of a query, of which one has these versions."""
    registry: Any = QuickRegistry(versions)
    return Registries([registry])


def open_batches(
    registry: Any, ledger: Lookups, outlet: Outlet | Mapping[str, Outlet]
) -> TableBatches:
    """Open the batches of a table, or of a table for each schema name."""
    by_name = outlet if isinstance(outlet, Mapping) else {None: outlet}
    tables = [Table((each,), Route(schema=name), name or "") for name, each in by_name.items()]
    context = BatchContext(Registries([registry]), NoErrors())
    return TableBatches(tables, lambda _: ledger, context)


class Product:
    """The product's batches, from number 1, with versions that its ledger knows and `new` ones.

    Rows go to one outlet, or each to that of its schema's name.
    """

    def __init__(
        self,
        world: World,
        versions: Sequence[SchemaVersion],
        new: Sequence[SchemaVersion] = (),
        outlet: Outlet | Mapping[str, Outlet] | None = None,
    ) -> None:
        ledger = Ledger(world.spark, f"file://{world.new_folder()}")
        ledger.add(Lookup(0, 1, tuple(versions)))
        self.batches = open_batches(QuickRegistry(new), ledger, outlet or Outlet())
        self._number = 0

    def take(self, records: DataFrame) -> BatchCounts:
        """Process records as the next batch."""
        self._number += 1
        return self.batches.write_batch(records, BatchId("bench", self._number))

    def expect(self, rows: int, records: DataFrame) -> None:
        """Process records and assert how many become rows, so that the whole work is compared."""
        found = self.take(records).rows
        assert found == rows, f"found {found} rows, expected {rows}"


def read_cached(records: DataFrame, versions: Sequence[SchemaVersion]) -> DataFrame:
    """Read records as the product does, into memory, with the columns of its tables."""
    decoder = Decoder(records.sparkSession, versions)
    rows = decoder.select(decoder.decode(split_frames(records, GLUE)))
    day = "timestamp_millis(event.timestamp) AS _event_time"
    cached = rows.selectExpr(day, *COORDINATES, "event.*").cache()
    cached.count()
    return cached


def write_days(rows: DataFrame, folder: str) -> None:
    """Write cached rows to Parquet files as the product does, with a folder for each day."""
    days = rows.selectExpr("*", "CAST(_event_time AS DATE) AS day")
    days.write.partitionBy("day").mode("overwrite").parquet(folder)


def read_one_schema(
    records: DataFrame, version: SchemaVersion, versions: Sequence[SchemaVersion]
) -> DataFrame:
    """Read records of one version by its schema, fixed in the plan, into the merged schema."""
    reader = json.dumps(merge_schemas([each.schema for each in versions]))
    payload = F.expr(f"substring(value, {_HEADER + 1})")
    record = from_avro(payload, json.dumps(version.schema), {"avroSchema": reader})
    return records.select(record.alias("event"), *_coordinates(version)).select(
        "event.*", *COORDINATES
    )


def read_by_filters(records: DataFrame, versions: Sequence[SchemaVersion]) -> DataFrame:
    """Read records of many versions in the usual way: find the ids, then filter by each."""
    ids = records.select(F.expr("substring(value, 3, 16)").alias("id")).distinct()
    found = {bytes(row.id) for row in ids.collect()}
    parts = [
        read_one_schema(
            records.filter(f"substring(value, 3, 16) = X'{version.key.id.hex()}'"),
            version,
            versions,
        )
        for version in versions
        if version.key.id in found
    ]
    return reduce(DataFrame.unionAll, parts)


def _coordinates(version: SchemaVersion) -> list[Any]:
    sources = (
        "topic", "partition", "offset", "timestamp", f"'{version.key}'", str(version.number),
    )  # fmt: skip
    return [F.expr(f"{sql} AS {name}") for sql, name in zip(sources, COORDINATES, strict=True)]
