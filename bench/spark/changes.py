"""A topic of changes of a database's table, as Debezium writes them, and ways to make it a table.

The topic begins with a snapshot of all rows. In a batch of changes after it, each of rows that are
spread over the whole table, most are updates, and the others inserts and deletions.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql.avro.functions import to_avro

from bench.spark.ways import NoErrors, QuickRegistry
from bench.spark.world import World
from penstock.consuming import SchemaReaders
from penstock.extensions.cdc.spark.current import CurrentTable
from penstock.extensions.cdc.spark.settings import UNAVAILABLE
from penstock.extensions.cdc.spark.sink import ChangeSink, LogStates
from penstock.framing import FrameKind, SchemaKey
from penstock.kafka import Topic, ensure_topic
from penstock.registry import Registries, SchemaVersion, VersionStatus
from penstock.schemas import Schema
from penstock.spark.query.parts import BatchContext
from penstock.spark.query.source import SOURCE
from penstock.spark.query.stream import keep_records
from penstock.spark.query.table_batches import TableBatches
from penstock.spark.sinks.table import Route, Table
from penstock.spark.state.schema_ledger import Ledger
from penstock.tables import BatchId

_COLUMNS: Final = {
    "id": ("long", "id"),
    "title": ("string", "CONCAT('title ', id)"),
    "description": ("string", "CONCAT('a film of ', SHA1(CAST(id AS STRING)), ' and others')"),
    "release_year": ("int", "CAST(1950 + id % 76 AS INT)"),
    "rental_rate": ("double", "place / 7.0D"),
    "length": ("int", "CAST(60 + id % 100 AS INT)"),
    "rating": ("string", "ELT(1 + id % 4, 'G', 'PG', 'R', 'NC-17')"),
    "last_update": ("long", "1795239498031000 + place"),
}
_SOURCE: Final = {
    "db": ("string", "'films'"), "schema": ("string", "'public'"), "table": ("string", "'film'"),
    "ts_ms": ("long", "1795239498031 + place"), "snapshot": ("string", "snapshot"),
    "lsn": ("long", "1000 + place"),
}  # fmt: skip


def _fields(columns: dict[str, tuple[str, str]]) -> list[Schema]:
    return [{"name": name, "type": type_} for name, (type_, _) in columns.items()]


_ROW: Final = {"type": "record", "name": "Value", "fields": _fields(_COLUMNS)}
_ENVELOPE: Final = {
    "type": "record",
    "name": "Envelope",
    "namespace": "films.public.film",
    "fields": [
        {"name": "before", "type": ["null", _ROW], "default": None},
        {"name": "after", "type": ["null", "Value"], "default": None},
        {
            "name": "source",
            "type": {"type": "record", "name": "Source", "fields": _fields(_SOURCE)},
        },
        {"name": "op", "type": "string"},
        {"name": "ts_ms", "type": ["null", "long"], "default": None},
    ],
}
_KEY: Final = {
    "type": "record",
    "name": "Key",
    "namespace": "films.public.film",
    "fields": _fields({"id": _COLUMNS["id"]}),
}


def _version(number: int, name: str, schema: Schema) -> SchemaVersion:
    key = SchemaKey(FrameKind.APICURIO, number.to_bytes(8))
    return SchemaVersion(key, name, 1, VersionStatus.AVAILABLE, schema, None)


KEY, VALUE = _version(1, "film-key", _KEY), _version(2, "film-value", _ENVELOPE)
CHANGES: Final = "films.public.film"


@dataclass(slots=True)
class ChangeTopic:
    """The topic: a snapshot of `rows` rows, and batches of `changes` changes after it."""

    world: World
    rows: int
    changes: int
    batches: int = 0

    @property
    def records(self) -> int:
        """The number of its records."""
        return self.rows + self.batches * self.changes

    def write_snapshot(self) -> None:
        """Write the snapshot."""
        ensure_topic(self.world.kafka(), Topic(CHANGES, self.world.partitions, 1))
        self._send(self._range(0, self.rows).selectExpr("id", "id AS place", "'r' AS op"), "true")

    def write_batches(self, batches: int) -> None:
        """Write more batches of changes."""
        for _ in range(batches):
            self._send(self._change(self.records), "false")
            self.batches += 1

    def read(self, batch: int) -> DataFrame:
        """Read the records of a batch, or of the snapshot, which is -1."""
        first = 0 if batch < 0 else self.rows + batch * self.changes
        after = first + (self.rows if batch < 0 else self.changes)
        lanes = self.world.partitions
        options = {
            name: json.dumps({CHANGES: dict.fromkeys(map(str, range(lanes)), place // lanes)})
            for name, place in (("startingOffsets", first), ("endingOffsets", after))
        }
        stream = self.world.spark.read.format(SOURCE).options(**options)
        servers = {"kafka.bootstrap.servers": self.world.servers, "subscribe": CHANGES}
        return stream.options(**servers).load()

    def _range(self, first: int, after: int) -> DataFrame:
        return self.world.spark.range(first, after, 1, self.world.partitions)

    def _change(self, first: int) -> DataFrame:
        """Return changes: of ten, eight update rows at random, one inserts and one deletes."""
        lanes = self.world.partitions
        deleted = f"10 * {lanes} * (place DIV (10 * {lanes})) % {self.rows} + place % {lanes}"
        updated = f"{lanes} * PMOD(XXHASH64(place), {self.rows // lanes}) + place % {lanes}"
        kind = f"(place DIV {lanes}) % 10"
        return (
            self._range(first, first + self.changes)
            .withColumnRenamed("id", "place")
            .selectExpr(
                f"CASE {kind} WHEN 0 THEN {deleted} WHEN 1 THEN place ELSE {updated} END AS id",
                "place",
                f"CASE {kind} WHEN 0 THEN 'd' WHEN 1 THEN 'c' ELSE 'u' END AS op",
            )
        )

    def _send(self, changes: DataFrame, snapshot: str) -> None:
        row = _struct(_COLUMNS)
        changes = changes.selectExpr("*", f"'{snapshot}' AS snapshot")
        changes.selectExpr(
            "NAMED_STRUCT('id', id) AS key",
            f"NAMED_STRUCT('before', IF(op = 'd', {row}, NULL), 'after', IF(op = 'd', NULL, {row}),"
            f" 'source', {_struct(_SOURCE)}, 'op', op, 'ts_ms', 1795239498031 + place) AS value",
            f"CAST(id % {self.world.partitions} AS INT) AS partition",
            "place",
        ).repartition("partition").sortWithinPartitions("place").select(
            to_avro("key", json.dumps(_KEY)).alias("key"),
            to_avro("value", json.dumps(_ENVELOPE)).alias("value"),
            "partition",
        ).selectExpr(
            f"CONCAT(X'00{KEY.key.id.hex()}', key) AS key",
            f"CONCAT(X'00{VALUE.key.id.hex()}', value) AS value",
            f"'{CHANGES}' AS topic",
            "partition",
        ).write.format("kafka").options(
            **{"kafka.bootstrap.servers": self.world.servers, "kafka.linger.ms": "20"}
        ).save()


class CurrentJob:
    """The job's batches of this topic, with a current table as their output."""

    def __init__(self, topic: ChangeTopic, output: CurrentTable) -> None:
        world = topic.world
        self._topic = topic
        registry: Any = QuickRegistry((KEY, VALUE), FrameKind.APICURIO)
        registries = Registries([registry])
        sink = ChangeSink(
            CHANGES,
            (output,),
            LogStates(world.spark, world.new_folder().as_uri()),
            SchemaReaders(registries),
            UNAVAILABLE,
        )
        ledger = Ledger(world.spark, world.new_folder().as_uri())
        context = BatchContext(registries, NoErrors())
        tables = [Table((sink,), Route(topics=(CHANGES,)), "film")]
        self._batches = TableBatches(tables, lambda _: ledger, context)

    def take(self, batch: int) -> None:
        """Take a batch of changes, or the snapshot, which is -1."""
        with keep_records(self._topic.read(batch), few=True) as kept:  # as the query does
            self._batches.write_batch(kept, BatchId("bench", batch + 1))


def _struct(columns: dict[str, tuple[str, str]]) -> str:
    fields = ", ".join(f"'{name}', {sql}" for name, (_, sql) in columns.items())
    return f"NAMED_STRUCT({fields})"
