"""The rung of change data capture: a table that is kept equal to one of a database."""

from __future__ import annotations

import time
from itertools import count
from typing import Final

from pyspark.sql import DataFrame

from bench.ladder import Form, Result, race, ratio, reported
from bench.spark.world import World, world_for
from penstock.consuming import SchemaReaders
from penstock.extensions.cdc.spark.current import CurrentTable
from penstock.extensions.cdc.spark.settings import UNAVAILABLE
from penstock.extensions.cdc.spark.sink import ChangeSink, LogStates
from penstock.registry import Registries
from penstock.spark.sinks.base import Part
from penstock.tables import BatchId

_SHARE: Final = 4  # of the rows change in a batch, each twice
_MODES: Final = ("merge-on-read", "copy-on-write")
_TOPIC: Final = "films.public.film"


class _Table:
    """A table with all rows, and batches of changes of some."""

    def __init__(self, world: World, mode: str) -> None:
        name = f"bench.film_{mode.replace('-', '_')}"
        self._world, self._name = world, f"lake.{name}"
        self._rows = world.records // 2
        self._numbers = count()
        world.spark.sql(f"DROP TABLE IF EXISTS {self._name}")
        states = LogStates(world.spark, world.new_folder().as_uri())
        readers = SchemaReaders(Registries([]))
        self._sink = ChangeSink(_TOPIC, (CurrentTable(name),), states, readers, UNAVAILABLE)
        self._write_rows(self._rows)
        world.spark.sql(f"ALTER TABLE {self._name} SET TBLPROPERTIES ('write.merge.mode'='{mode}')")

    def change(self) -> float:
        """Change rows, each twice; return the seconds."""
        started = time.perf_counter()
        self._write_rows(self._rows // _SHARE)
        return time.perf_counter() - started

    def count_rewritten(self) -> float:
        """Return the data files that the last batch wrote again."""
        newest = self._world.spark.table(f"{self._name}.snapshots").orderBy("committed_at")
        return float(newest.tail(1)[0]["summary"].get("deleted-data-files", 0))

    def _write_rows(self, rows: int) -> None:
        number = next(self._numbers)
        first = 4 * self._rows * number
        self._sink.write(_make_changes(self._world, rows, first), Part(BatchId("bench", number), 0))


def _make_changes(world: World, rows: int, first: int) -> DataFrame:
    """Return two changes of each row, as sinks receive them."""
    row = "NAMED_STRUCT('id', id, 'title', CONCAT('title ', id), 'rate', _offset / 7.0D)"
    return (
        world.spark.range(first, first + 2 * rows, 1, world.partitions)
        .selectExpr("id AS _offset", f"id % {rows} AS id")
        .selectExpr(
            f"NAMED_STRUCT('before', IF(_offset < 0, {row}, NULL), 'after', {row}, 'source',"
            " NAMED_STRUCT('lsn', _offset, 'ts_ms', 0L, 'snapshot', 'false'), 'op', 'u') AS event",
            f"'{_TOPIC}' AS _topic",
            "0 AS _kafka_partition",
            "_offset",
            "CURRENT_TIMESTAMP() AS _kafka_timestamp",
            "CAST('{\"id\": 1}' AS BINARY) AS _key",
            "CAST(NULL AS ARRAY<STRUCT<key: STRING, value: BINARY>>) AS _headers",
        )
    )


def _keep_current(form: Form) -> Result:
    """Race merge-on-read, as the job writes, and copy-on-write."""
    world = world_for(form)
    tables = {mode: _Table(world, mode) for mode in _MODES}
    turns = race({mode: each.change for mode, each in tables.items()}, form.turns)
    changes = 2 * (world.records // 2 // _SHARE)
    parts: dict[str, float] = {"changes": changes}
    for mode, table in tables.items():
        name = mode.replace("-", "_")
        parts[f"{name}_changes_per_second"] = round(changes / min(turns[mode]))
        parts[f"{name}_files_rewritten"] = table.count_rewritten()
    return Result(ratio(turns, "copy-on-write", "merge-on-read"), "times as long", parts)


CHANGES = (
    reported(
        "cdc-current",
        "a MERGE that copies files against the job's, of a batch that changes a quarter of a table",
        _keep_current,
    ),
)
