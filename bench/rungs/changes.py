# ruff: noqa: S608 - every name in these statements is our own
"""Rungs of change data capture: a table that is kept equal to one of a database.

Three ways read the same topic: the job, the job with a table that copies files (copy-on-write),
and Iceberg's own sink of Kafka Connect, which appends each change.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Final, NamedTuple

from bench.connect import running_sink
from bench.ladder import Form, Result, least, race, ratio, reported
from bench.spark.changes import CHANGES as TOPIC
from bench.spark.changes import SCHEMAS, ChangeTopic, CopyingTable, CurrentJob
from bench.spark.ways import to_nowhere
from bench.spark.world import World, world_for
from penstock.extensions.cdc.spark.current import CurrentTable

_ROWS_SHARE, _CHANGES_SHARE = 10, 40  # of the records of a run: the rows, and a batch's changes
_WARM: Final = 2  # batches in which the JVM compiles
_JOB, _COPYING = "product", "copying"
_SINK: Final = "bench.film_sink"
# The query by which a table of appended changes is read.
_NEWEST: Final = f"""
    SELECT * FROM (
        SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY _cdc.offset DESC) AS place
        FROM lake.{_SINK}
    ) WHERE place = 1 AND _cdc.op <> 'D'
"""
# Figures of a commit, by the names that Iceberg has for them.
_WRITTEN: Final = {
    "data_files_rewritten": "deleted-data-files",
    "delete_files_written": "added-delete-files",
    "bytes_written": "added-files-size",
    "data_files": "total-data-files",
    "delete_files": "total-delete-files",
}


class _Batch(NamedTuple):
    seconds: float
    cpu_seconds: float


@dataclass(slots=True)
class _Job:
    """A job, and the batches that it has taken after the snapshot."""

    topic: ChangeTopic
    output: CurrentTable
    batches: list[_Batch] = field(default_factory=list)
    _job: CurrentJob = field(init=False)

    def __post_init__(self) -> None:
        """Take the snapshot."""
        self._job = CurrentJob(self.topic, self.output)
        self._job.take(-1)

    @property
    def table(self) -> str:
        """The name of its table."""
        return self.output.name

    def take(self) -> None:
        """Take the next batch."""
        world = self.topic.world
        started, spent = time.perf_counter(), world.cpu_seconds()
        self._job.take(len(self.batches))
        seconds = time.perf_counter() - started
        self.batches.append(_Batch(seconds, world.cpu_seconds() - spent))

    def describe_last(self) -> dict[str, float]:
        """Return what the last batch wrote, and the files that there are."""
        snapshots = self.topic.world.spark.table(f"{self.table}.snapshots").orderBy("committed_at")
        summary = snapshots.filter("operation = 'overwrite'").tail(1)[0]["summary"]
        return {name: float(summary.get(key, 0)) for name, key in _WRITTEN.items()}


@cache
def _open_topic(world: World, form: Form) -> ChangeTopic:
    """Write a snapshot and all batches of changes."""
    topic = ChangeTopic(world, world.records // _ROWS_SHARE, world.records // _CHANGES_SHARE)
    topic.write_snapshot()
    topic.write_batches(form.turns + _WARM * (form.turns > 1))
    return topic


@cache
def _take_batches(world: World, form: Form) -> dict[str, _Job]:
    """Let both jobs take the batches, in turns."""
    topic = _open_topic(world, form)
    tables = {_JOB: CurrentTable("bench.film"), _COPYING: CopyingTable("bench.film_copied")}
    jobs = {way: _Job(topic, output) for way, output in tables.items()}
    mode = "('write.merge.mode' = 'copy-on-write')"
    world.spark.sql(f"ALTER TABLE {jobs[_COPYING].table} SET TBLPROPERTIES {mode}")
    for turn in range(topic.batches):
        for way in list(jobs) if turn % 2 else reversed(jobs):
            jobs[way].take()
    return jobs


@cache
def _append_changes(world: World, form: Form) -> float:
    """Let the sink append the topic, then more changes; return its CPU time of one of these."""
    topic = _open_topic(world, form)
    with running_sink(world, TOPIC, SCHEMAS, _SINK) as sink:
        sink.wait_for(topic.records)
        spent, before = sink.cpu_seconds(), topic.records
        topic.write_batches(form.turns)
        sink.wait_for(topic.records)
        return (sink.cpu_seconds() - spent) / (topic.records - before) * 1e6


def _microseconds(job: _Job, form: Form) -> float:
    """Return the CPU time of a change in the batches that count."""
    batches = job.batches[-form.turns :]
    return statistics.median(each.cpu_seconds for each in batches) / job.topic.changes * 1e6


def _keep_speed(form: Form) -> Result:
    job = _take_batches(world_for(form), form)[_JOB]
    changes = job.topic.changes
    seconds = [each.seconds for each in job.batches[-form.turns :]]
    figure = changes / statistics.median(seconds)
    parts = {
        "records": float(changes),
        "product_rows_per_second": round(figure),
        "product_slowest": round(changes / max(seconds)),
        "product_fastest": round(changes / min(seconds)),
        "product_cpu_microseconds": _microseconds(job, form),
    }
    return Result(figure, "changes per second", parts)


def _copy_files(form: Form) -> Result:
    jobs = _take_batches(world_for(form), form)
    spent = {way: _microseconds(job, form) for way, job in jobs.items()}
    parts = {"records": float(jobs[_JOB].topic.changes)}
    for way, job in jobs.items():
        parts[f"{way}_cpu_microseconds"] = spent[way]
        parts |= {f"{way}_{key}": number for key, number in job.describe_last().items()}
    return Result(spent[_COPYING] / spent[_JOB], "times", parts)


def _append_all(form: Form) -> Result:
    world = world_for(form)
    job, theirs = _take_batches(world, form)[_JOB], _append_changes(world, form)
    ours = _microseconds(job, form)
    parts = {
        "records": float(job.topic.changes),
        "product_cpu_microseconds": ours,
        "sink_cpu_microseconds": theirs,
        "product_rows": float(world.spark.table(job.table).count()),
        "sink_rows": float(world.spark.table(f"lake.{_SINK}").count()),
    }
    return Result(theirs / ours, "times", parts)


def _read_rows(form: Form) -> Result:
    """Race the table, a copy of it without delete files, and the newest of appended changes."""
    world = world_for(form)
    job, _ = _take_batches(world, form)[_JOB], _append_changes(world, form)
    while len(job.batches) < job.topic.batches:
        job.take()  # those that were written for the sink
    table = job.table
    world.spark.sql(f"CREATE OR REPLACE TABLE {table}_copy USING iceberg AS SELECT * FROM {table}")
    queries = {
        "product": f"SELECT * FROM {table}",
        "compacted": f"SELECT * FROM {table}_copy",
        "newest": _NEWEST,
    }
    counted = {name: world.spark.sql(query).count() for name, query in queries.items()}
    if len(set(counted.values())) != 1:
        raise AssertionError(f"the ways read {counted}")
    turns = race({name: partial(_read, world, each) for name, each in queries.items()}, form.turns)
    medians = {f"{name}_cpu_seconds": statistics.median(each) for name, each in turns.items()}
    parts = {"records": float(counted["product"]), **medians}
    parts["compacted_times"] = ratio(turns, "product", "compacted")
    return Result(ratio(turns, "product", "newest"), "times", parts)


def _read(world: World, query: str) -> float:
    spent = world.cpu_seconds()
    to_nowhere(world.spark.sql(query))
    return world.cpu_seconds() - spent


CHANGES = (
    least(
        "cdc-speed",
        "changes from Kafka into the current table, rows at random, in batches of a quarter of it",
        20_000,
        _keep_speed,
    ),
    reported(
        "cdc-current",
        "the same by delete files, CPU against a table that copies files (copy-on-write)",
        _copy_files,
    ),
    reported(
        "cdc-sink",
        "the same, CPU against Iceberg's sink of Kafka Connect, which appends each change",
        _append_all,
    ),
    reported(
        "cdc-read",
        "all rows of the current table, CPU against the newest of the changes that are appended",
        _read_rows,
    ),
)
