"""The rung of change data capture: a table that is kept equal to one of a database."""

from __future__ import annotations

import time
from typing import Any, Final

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
_ROW: Final = "NAMED_STRUCT('id', id, 'title', CONCAT('title ', id), 'rate', RAND(), 'at', {at})"
_MODES: Final = ("merge-on-read", "copy-on-write")


def _make_changes(world: World, rows: int, first: int, at: int) -> DataFrame:
    """Return changes as sinks receive them: of each of these rows two, from the first offset."""
    row = _ROW.format(at=at)
    source = "NAMED_STRUCT('lsn', {}, 'ts_ms', 0L, 'snapshot', 'false')".format(
        f"{first}L + offset"
    )
    return (
        world.spark.range(2 * rows)
        .selectExpr("id AS offset", f"id % {rows} AS id")
        .selectExpr(
            f"NAMED_STRUCT('before', IF(FALSE, {row}, NULL), 'after', {row}, 'source', {source},"
            " 'op', IF(offset < 0, 'c', 'u')) AS event",
            "'films.public.film' AS _topic",
            "0 AS _kafka_partition",
            f"{first}L + offset AS _offset",
            "CURRENT_TIMESTAMP() AS _kafka_timestamp",
            "CAST('{\"id\": 1}' AS BINARY) AS _key",
            "CAST(NULL AS ARRAY<STRUCT<key: STRING, value: BINARY>>) AS _headers",
        )
    )


def _keep_current(form: Form) -> Result:
    world = world_for(form)
    rows, spark = world.records // 2, world.spark
    sinks: dict[str, ChangeSink] = {}
    files: dict[str, float] = {}
    for mode in _MODES:
        name = f"bench.film_{mode.replace('-', '_')}"
        spark.sql(f"DROP TABLE IF EXISTS lake.{name}")
        states = LogStates(spark, world.new_folder().as_uri())
        readers = SchemaReaders(Registries([]))
        sinks[mode] = ChangeSink(
            "films.public.film", (CurrentTable(name),), states, readers, UNAVAILABLE
        )
        sinks[mode].write(_make_changes(world, rows, 0, 0), Part(BatchId("bench", 0), 0))
        spark.sql(f"ALTER TABLE lake.{name} SET TBLPROPERTIES ('write.merge.mode' = '{mode}')")
    batches = iter(range(1, 1_000_000))

    def change(mode: str) -> float:
        number = next(batches)
        changes = _make_changes(world, rows // _SHARE, 4 * rows * number, number)
        started = time.perf_counter()
        sinks[mode].write(changes, Part(BatchId("bench", number), 0))
        seconds = time.perf_counter() - started
        (summary,) = (
            spark.table(f"lake.bench.film_{mode.replace('-', '_')}.snapshots")
            .orderBy("committed_at", ascending=False)
            .limit(1)
            .collect()
        )
        files[f"{mode.replace('-', '_')}_data_files_deleted"] = float(
            summary["summary"].get("deleted-data-files", 0)
        )
        return seconds

    ways: dict[str, Any] = {mode: lambda mode=mode: change(mode) for mode in _MODES}
    turns = race(ways, form.turns)
    changed = 2 * (rows // _SHARE)
    parts = {
        f"{mode.replace('-', '_')}_changes_per_second": round(changed / min(turns[mode]))
        for mode in _MODES
    }
    return Result(ratio(turns, *reversed(_MODES)), "times", {**parts, **files})


CHANGES = (
    reported(
        "cdc-current",
        "A batch of changes of a quarter of a table's rows, twice each: copy-on-write against ours",
        _keep_current,
    ),
)
