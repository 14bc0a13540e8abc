"""Rungs of what grows: the cost of a batch, the check of versions, the metadata of a table."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from bench.ladder import Form, Result, Rung, most
from bench.spark.growth import batch_of, measure_growth, routed_batch
from bench.spark.records import make_versions
from bench.spark.world import PARTITIONS, World, world_for
from penstock.spark.decoding.admission import admit_versions
from penstock.spark.lake.iceberg import IcebergTable, qualify_table
from penstock.spark.sinks.iceberg import Lake
from penstock.tables import BatchId, Marker

_MOST_RECORDS = 200_000
_VERSIONS = (250, 500, 1_000)
_BATCHES, _PARTITIONS = 1_000, 100
_TABLE = "bench.growth"
_SIZES = {
    "records": (25_000, 50_000, 100_000, 200_000),
    "versions": (25, 50, 100, 200, 400),
    "partitions": (4, 16, 64),
    "routes": (1, 2, 4, 8, 16),
}


def _way(world: World, name: str, size: int, most_records: int) -> Callable[[], object]:
    """Return a batch in which one thing has a size, and the others are small."""
    share = size / _MOST_RECORDS if name == "records" else 0.1
    partitions = size if name == "partitions" else PARTITIONS
    world = replace(world, records=int(most_records * share), partitions=partitions, _topics=set())
    if name == "routes":
        return routed_batch(world, size)
    return batch_of(world, f"growth-{name}-{size}", size if name == "versions" else 1)


def _grow(name: str, form: Form) -> Result:
    world, records = world_for(form), min(form.records, _MOST_RECORDS)
    ways = {size: _way(world, name, size, records) for size in _SIZES[name]}
    return measure_growth(world, ways, form)


def _admit(form: Form) -> Result:
    """Measure the check of versions that no batch has met; the first in this session is cold."""
    world = world_for(form)
    parts = {}
    for size in reversed(_VERSIONS):
        started = world.cpu_seconds()
        admitted, refused = admit_versions(make_versions(size))
        parts[f"cpu_seconds_at_{size}"] = round(world.cpu_seconds() - started, 2)
        if len(admitted) != size:
            raise AssertionError(f"{len(refused)} versions were refused")
    return Result(parts[f"cpu_seconds_at_{_VERSIONS[-1]}"], "seconds", parts)


def _metadata(form: Form) -> Result:
    """Measure the metadata of a table whose batches have markers, as a job's have, and no rows."""
    world = world_for(form)
    Lake(world.spark, _TABLE).read()
    table = IcebergTable(world.spark, qualify_table(_TABLE))
    folder = Path(str(world.spark.conf.get("spark.sql.catalog.lake.warehouse")))
    files = folder.joinpath(*_TABLE.split("."), "metadata")
    parts = {}
    for number in range(1, _BATCHES + 1):
        ends = [("readings", partition, number * 1_000) for partition in range(_PARTITIONS)]
        append = table._table.newAppend()
        for name, text in Marker.of(BatchId("q", number, json.dumps(ends)), 0).to_summary().items():
            append.set(name, text)
        append.commit()
        if number in (1, _BATCHES // 4, _BATCHES // 2, _BATCHES):
            newest = max(files.glob("*.metadata.json"), key=lambda file: file.stat().st_mtime_ns)
            parts[f"kilobytes_at_{number}"] = round(newest.stat().st_size / 1e3, 1)
    return Result(parts[f"kilobytes_at_{_BATCHES}"], "kB", parts)


GROWTH: tuple[Rung, ...] = (
    *(
        most(
            f"growth-{name}",
            f"a batch's CPU time against {name}, from {sizes[0]:,} to {sizes[-1]:,}",
            1.1,
            partial(_grow, name),
        )
        for name, sizes in _SIZES.items()
    ),
    most(
        "growth-admission",
        "CPU time to check 1,000 versions that no batch has met, in a new session",
        20,
        _admit,
    ),
    most(
        "growth-metadata",
        "metadata of a lake table after 1,000 batches of 100 partitions",
        200,
        _metadata,
    ),
)
