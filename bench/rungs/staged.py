"""The rung of the staging job: its query, with batches of several topics, a table each."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import pairwise

from pyspark.sql import DataFrame

from bench.ladder import Form, Result, Rung, Turns, least, race, ratio
from bench.spark.records import make_frames, make_versions
from bench.spark.ways import NoErrors, Outlet, QuickRegistry
from bench.spark.world import World, world_for
from penstock.records import Projection
from penstock.registry import Registries
from penstock.spark.query.source import open_stream
from penstock.spark.query.stream import StreamQuery, Watch
from penstock.spark.settings.consume import ReadSettings
from penstock.spark.sinks.base import Sink
from penstock.spark.sinks.table import Route, Table
from penstock.spark.state.losses import OffsetRange

_RECORDS = 10_000  # of a batch, as the job reads by default
_BATCHES = 4  # of a query; the first one looks up the schema, and is not counted
_TURNS = 2  # that count
_COLUMNS = Projection(lower_case=True, constant="staging_time")
_Tables = Mapping[str, Sink]
Parts = dict[str, float]


class _Meter(Watch):
    """Notes the time, the CPU time of the session and the rows at the end of each batch."""

    def __init__(self, world: World, records: int) -> None:
        self._world, self._records = world, records
        self.ends: list[tuple[float, float, int]] = []

    def seconds(self) -> Iterator[tuple[float, float]]:
        """Yield the CPU time and the time of each full batch but the first, for as many rows."""
        for start, end in pairwise(self.ends[:_BATCHES]):
            scale = self._records / end[2]
            yield (end[0] - start[0]) * scale, (end[1] - start[1]) * scale

    def after(self, records: DataFrame, number: int, found: int) -> tuple[OffsetRange, ...]:
        """Note the end of a batch; nothing is lost."""
        self.ends.append((self._world.cpu_seconds(), time.perf_counter(), found))
        return ()


def _run(world: World, tables: _Tables, records: int) -> list[tuple[float, float]]:
    """Stage all records of the tables' topics; return the CPU time and the time of batches."""
    read = ReadSettings(topics=tuple(tables), max_offsets_per_trigger=records)
    registry = QuickRegistry(make_versions(1))
    meter = _Meter(world, records)
    # A session of its own: a query leaves a listener in its session, which hears of later ones.
    StreamQuery(
        stream=open_stream(world.spark.newSession(), world.kafka(), read, may_stop=False),
        checkpoint=f"file://{world.new_folder()}",
        registries=Registries([registry]),  # type: ignore[list-item]
        tables=[
            Table((sink,), Route(topics=(topic,)), topic, _COLUMNS)
            for topic, sink in tables.items()
        ],
        errors=NoErrors(),
        watch=lambda checkpoint: meter,
        bounded=True,
    ).start(availableNow=True).awaitTermination()
    assert sum(rows for _, _, rows in meter.ends) == records * _BATCHES
    return list(meter.seconds())


def _compare(world: World, ways: Mapping[str, _Tables], form: Form) -> tuple[Turns, Parts]:
    """Return the CPU seconds of batches of each way, in turns, and the parts of the figures."""
    records, turns = min(_RECORDS, form.records // 4), min(_TURNS, form.turns)
    for tables in ways.values():
        world.write(list(tables), make_frames(make_versions(1)), records * _BATCHES)
    cpu: Turns = {name: [] for name in ways}
    elapsed: Turns = {name: [] for name in ways}

    def run(name: str) -> float:
        batches = _run(world, ways[name], records)
        cpu[name] += (each for each, _ in batches)
        elapsed[name] += (each for _, each in batches)
        return 0.0

    race({name: partial(run, name) for name in ways}, turns, warm={})
    parts = {"records": float(records)}
    for name in ways:
        parts[f"{name}_cpu_seconds"] = round(statistics.median(cpu[name]), 2)
        parts[f"{name}_least_cpu_seconds"] = round(min(cpu[name]), 2)
        parts[f"{name}_most_cpu_seconds"] = round(max(cpu[name]), 2)
        parts[f"{name}_seconds"] = round(statistics.median(elapsed[name]), 2)
    return cpu, parts


def _columns(form: Form) -> Result:
    """Compare tables that Spark decodes, as for a lake, and whose columns go nowhere."""

    def open_tables(number: int) -> dict[str, Sink]:
        return {f"columns-{number}-{at}": Outlet() for at in range(number)}

    ways = {f"topics_{each}": open_tables(each) for each in (1, 5)}
    cpu, parts = _compare(world_for(form), ways, form)
    return Result(ratio(cpu, "topics_5", "topics_1"), "times", parts)


STAGED: tuple[Rung, ...] = (
    least(
        "staged-columns-5",
        "How many rows of 5 topics, a table each, does a CPU second decode, against one topic?",
        0.8,
        _columns,
    ),
)
