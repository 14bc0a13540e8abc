"""The rung of growth: the cost of a record when one thing is a hundred times as large."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

from bench.ladder import Form, Result, Rung, most
from bench.spark.growth import batch_of, measure_costs, routed_batch
from bench.spark.world import PARTITIONS, World, world_for
from penstock.spark.lake.iceberg import IcebergTable, qualify_table
from penstock.spark.sinks.iceberg import Lake
from penstock.tables import BatchId, Marker

_DECADES = 100
_RECORDS, _FEW = 200_000, 20_000  # of a batch: where records grow, and where others do
_LEAST = {"records": _RECORDS // _DECADES, "versions": 4, "partitions": 1, "routes": 1}
_TABLE = "bench.growth"
_MARKERS = 100  # partitions in the marker of a batch
_COMMITS = 20  # that are measured, after 10 and after 1,000 others


def _way(world: World, name: str, size: int) -> Callable[[], object]:
    """Return a batch in which one thing has a size, and the others are small."""
    share = world.records / _RECORDS
    records = int(share * (size if name == "records" else _FEW))
    partitions = size if name == "partitions" else PARTITIONS
    world = replace(world, records=records, partitions=partitions, _topics=set())
    if name == "routes":
        return routed_batch(world, size)
    return batch_of(world, f"growth-{name}-{size}", size if name == "versions" else 1)


def _commit(world: World) -> dict[str, float]:
    """Return the CPU time of commits to a table with few and with many snapshots."""
    Lake(world.spark, _TABLE).read()
    table = IcebergTable(world.spark, qualify_table(_TABLE))
    costs, done = {}, 0
    for snapshots in (10, 10 * _DECADES):
        while done < snapshots:
            _append(table, done := done + 1)
        started = world.cpu_seconds()
        for _ in range(_COMMITS):
            _append(table, done := done + 1)
        costs[f"snapshots_{snapshots}"] = (world.cpu_seconds() - started) / _COMMITS
    return costs


def _append(table: IcebergTable, number: int) -> None:
    """Commit a batch without rows, with its marker."""
    ends = [("readings", partition, number * 1_000) for partition in range(_MARKERS)]
    append = table._table.newAppend()
    for name, text in Marker.of(BatchId("q", number, json.dumps(ends)), 0).to_summary().items():
        append.set(name, text)
    append.commit()


def _grow(form: Form) -> Result:
    """Measure two sizes of each thing; the figure is of the one that grows most."""
    world = replace(world_for(form), records=min(form.records, _RECORDS))
    parts: dict[str, float] = {}
    times: dict[str, float] = {}
    for name, least in _LEAST.items():
        ways = {size: _way(world, name, size) for size in (least, least * _DECADES)}
        costs = {f"{name}_{size}": cost for size, cost in measure_costs(world, ways, form).items()}
        small, large = costs.values()
        times[name] = large / small / (_DECADES if name == "records" else 1)
        parts |= {f"{way}_cpu_seconds": round(cost, 3) for way, cost in costs.items()}
    costs = _commit(world)
    small, large = costs.values()
    times["snapshots"] = large / small
    parts |= {f"{way}_cpu_seconds": round(cost, 4) for way, cost in costs.items()}
    parts |= {f"{name}_times": round(each, 2) for name, each in times.items()}
    return Result(max(times.values()), "times", parts)


GROWTH: tuple[Rung, ...] = (
    most(
        "growth",
        "What does a record cost when there is 100 times as much of what grows most?",
        1.2,
        _grow,
    ),
)
