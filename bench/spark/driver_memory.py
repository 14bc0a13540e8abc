"""Measure the memory of the driver of a job by its number of tables, and print a line for each.

A job reads a topic for each table, and writes batches of all of them to Iceberg. The process is the
driver and its only executor, so a figure is more than what a driver alone has.

    .venv/bin/python -m bench.spark.driver_memory 1 50
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from typing import Any

from pyspark.sql.streaming.query import StreamingQuery

from bench.ladder import Form
from bench.spark.records import make_frames, make_named_versions
from bench.spark.ways import NoErrors, open_registries
from bench.spark.world import World, world_for
from penstock.registry import RegistrySettings
from penstock.spark import ConsumeSettings
from penstock.spark.query.api import build_query
from penstock.spark.settings.consume import ReadSettings
from penstock.spark.settings.lease import LeaseSettings
from penstock.spark.sinks.iceberg import LakeSettings
from penstock.spark.sinks.settings import SinkSettings
from penstock.spark.state.lease import NoLease
from systems.processes import read_mb

_FORM = Form(calls=1, records=1, turns=1)
_MIB = 2**20
_BATCHES = 5
_RECORDS = 200  # of a table in a batch
_SECONDS = 600


def main() -> None:
    """Measure each number of tables that was asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.spark.driver_memory", description=__doc__
    )
    parser.add_argument("tables", nargs="+", type=int, help="how many tables a job has")
    numbers = parser.parse_args().tables
    for tables in numbers:
        with redirect_stdout(sys.stderr):  # where jobs write a line for each batch
            figures = _measure(tables)
        print(f"{tables} tables: " + ", ".join(f"{each:.0f} MiB {of}" for of, each in figures))


def _measure(tables: int) -> list[tuple[str, float]]:
    world = world_for(_FORM)
    query = _start(world, tables)
    try:
        for _ in range(_BATCHES):
            _write(world, tables)
            query.processAllAvailable()
        return list(_read_memory(world))
    finally:
        query.stop()
        query.awaitTermination(_SECONDS)


def _start(world: World, tables: int) -> StreamingQuery:
    versions = make_named_versions(tables)
    _write(world, tables)
    sinks = {"iceberg": LakeSettings(f"job{tables}.{{table}}")}
    route = tuple((each.name, each.name) for each in versions)
    settings = ConsumeSettings(
        kafka=world.kafka(),
        read=ReadSettings(topics=tuple(_topics(tables))),
        sinks=SinkSettings("errors", "parked", sinks, route=route),
        lease=LeaseSettings(),
        schemas=RegistrySettings("memory://"),
        checkpoint=f"file://{world.new_folder()}",
        trigger="1 second",
    )
    registries = open_registries(versions)
    query = build_query(world.spark, settings, registries, NoErrors(), NoLease())
    return query.start(**settings.when())


def _topics(tables: int) -> list[str]:
    return [f"job-{tables}-{number}" for number in range(tables)]


def _write(world: World, tables: int) -> None:
    world.write(_topics(tables), make_frames(make_named_versions(tables)), tables * _RECORDS)


def _read_memory(world: World) -> Iterator[tuple[str, float]]:
    """Yield the JVM's live objects after a collection, and what both processes have in RAM."""
    machine: Any = world.spark._jvm
    machine.System.gc()
    beans = machine.java.lang.management.ManagementFactory
    yield "live in the heap", beans.getMemoryMXBean().getHeapMemoryUsage().getUsed() / _MIB
    yield "outside the heap", beans.getMemoryMXBean().getNonHeapMemoryUsage().getUsed() / _MIB
    yield "of Python", read_mb(os.getpid())


if __name__ == "__main__":
    main()
