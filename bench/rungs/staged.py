"""Rungs of the staging job: its query, with batches of many topics, a table each."""

from __future__ import annotations

import atexit
import statistics
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from functools import cache, partial
from itertools import pairwise

from pyspark.sql import DataFrame

from bench.ladder import Result, Rung, least, ratio, reported
from bench.rungs.rows import running_dynamodb
from bench.spark.records import make_frames, make_versions
from bench.spark.ways import NoErrors, Outlet, QuickRegistry
from bench.spark.world import World, world_for
from penstock.records import Mode, Projection, RowShape
from penstock.registry import Registries
from penstock.spark.query.batch import TableSinks
from penstock.spark.query.record_task import RecordTable
from penstock.spark.query.source import open_stream
from penstock.spark.query.stream import StreamQuery
from penstock.spark.query.topics import TopicRoutes
from penstock.spark.settings.consume import ReadSettings
from penstock.spark.state.losses import OffsetRange

_RECORDS = 10_000  # of a batch, as the job reads by default
_BATCHES = 4  # of a query; the first one looks up the schema, and is not counted
_TURNS = 3  # the first one is not counted
_COLUMNS = Projection(lower_case=True)
_SHAPE = RowShape(("deviceid",), sort_name=None, event_time=None, mode=Mode.UPSERT)
_Tables = Mapping[str, TableSinks | RecordTable]


class _Meter:
    """Notes the time, the CPU time of the session and the rows at the end of each batch."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.ends: list[tuple[float, float, int]] = []

    def seconds(self) -> Iterator[tuple[float, float]]:
        """Yield the CPU time and the time of each full batch but the first, for 10,000 rows."""
        for start, end in pairwise(self.ends[:_BATCHES]):
            scale = _RECORDS / end[2]
            yield (end[0] - start[0]) * scale, (end[1] - start[1]) * scale

    def before(self, records: DataFrame, number: int) -> DataFrame:
        """Return the records."""
        return records

    def after(self, records: DataFrame, number: int, found: int) -> tuple[OffsetRange, ...]:
        """Note the end of a batch; nothing is lost."""
        self.ends.append((self._world.cpu_seconds(), time.perf_counter(), found))
        return ()


@cache
def _start_dynamodb() -> str:
    """Start a DynamoDB that runs until this process ends, and return its URL."""
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(running_dynamodb(0))


def _run(world: World, tables: _Tables) -> list[tuple[float, float]]:
    """Stage all records of the tables' topics; return the CPU time and the time of batches."""
    read = ReadSettings(topics=tuple(tables), max_offsets_per_trigger=_RECORDS)
    registry = QuickRegistry(make_versions(1))
    meter = _Meter(world)
    # A session of its own: a query leaves a listener in its session, which hears of later ones.
    StreamQuery(
        stream=open_stream(world.spark.newSession(), world.kafka(), read),
        checkpoint=f"file://{world.new_folder()}",
        registries=Registries([registry]),  # type: ignore[list-item]
        sinks=TopicRoutes(tables, str, {}),
        errors=NoErrors(),
        watch=lambda checkpoint: meter,
        bounded=True,
    ).start(availableNow=True).awaitTermination()
    assert sum(rows for _, _, rows in meter.ends) == _RECORDS * _BATCHES
    return list(meter.seconds())


def _compare(world: World, ways: Mapping[str, _Tables]) -> Result:
    """Compare the last way with the first one in CPU seconds, in turns."""
    for tables in ways.values():
        world.write(list(tables), make_frames(make_versions(1)), _RECORDS * _BATCHES)
    cpu: dict[str, list[float]] = {name: [] for name in ways}
    elapsed: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(_TURNS):
        for name in list(ways) if turn % 2 == 0 else reversed(ways):
            for batch in _run(world, ways[name]) if turn else ():
                cpu[name].append(batch[0])
                elapsed[name].append(batch[1])
    parts = {"records": float(_RECORDS)}
    for name in ways:
        parts[f"{name}_cpu_seconds"] = round(statistics.median(cpu[name]), 2)
        parts[f"{name}_least_cpu_seconds"] = round(min(cpu[name]), 2)
        parts[f"{name}_most_cpu_seconds"] = round(max(cpu[name]), 2)
        parts[f"{name}_seconds"] = round(statistics.median(elapsed[name]), 2)
    first, last = list(ways)
    return Result(ratio(cpu, last, first), "times", parts)


def _compare_rows(topics: int, count: int) -> Result:
    """Compare tables of DynamoDB."""
    world = world_for(count)
    world.spark.sparkContext.environment.update(
        AWS_ENDPOINT_URL=_start_dynamodb(),
        AWS_ACCESS_KEY_ID="AKIA",
        AWS_SECRET_ACCESS_KEY="s" * 40,
        AWS_REGION="eu-central-1",
    )

    def open_tables(number: int) -> dict[str, RecordTable]:
        names = [f"rows-{topics}-{number}-{at}" for at in range(number)]
        return {name: RecordTable(name, _SHAPE, _COLUMNS) for name in names}

    return _compare(world, {f"topics_{number}": open_tables(number) for number in (1, topics)})


def _compare_columns(count: int) -> Result:
    """Compare tables that Spark decodes, as for a lake, and whose columns go nowhere."""

    def open_tables(number: int) -> dict[str, TableSinks]:
        names = [f"columns-{number}-{at}" for at in range(number)]
        return {name: TableSinks([Outlet()], columns=_COLUMNS) for name in names}

    return _compare(world_for(count), {f"topics_{each}": open_tables(each) for each in (1, 5)})


STAGED: tuple[Rung, ...] = (
    *(
        least(
            f"staged-{topics}",
            f"rows per CPU second, batches of {_RECORDS:,} records of {topics} topics into"
            f" {topics} DynamoDB tables (R20), against one topic and table",
            0.8,
            partial(_compare_rows, topics),
        )
        for topics in (5, 50)
    ),
    reported(
        "staged-columns-5",
        "the same of 5 topics that Spark decodes, as for a lake, to nowhere, against one topic",
        _compare_columns,
    ),
)
