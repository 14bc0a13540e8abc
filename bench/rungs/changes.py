"""The rung of change data capture: a table that is kept equal to one of a database."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass, field
from functools import cache
from typing import Final, NamedTuple

from bench.ladder import Form, Result, least
from bench.spark.changes import ChangeTopic, CurrentJob
from bench.spark.world import World, world_for
from penstock.extensions.cdc.spark.current import CurrentTable

_ROWS_SHARE, _CHANGES_SHARE = 10, 40  # of the records of a run: the rows, and a batch's changes
_WARM: Final = 2  # batches in which the JVM compiles


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


@cache
def _open_topic(world: World, form: Form) -> ChangeTopic:
    """Write a snapshot and all batches of changes."""
    topic = ChangeTopic(world, world.records // _ROWS_SHARE, world.records // _CHANGES_SHARE)
    topic.write_snapshot()
    topic.write_batches(form.turns + _WARM * (form.turns > 1))
    return topic


@cache
def _take_batches(world: World, form: Form) -> _Job:
    """Let the job take the batches."""
    topic = _open_topic(world, form)
    job = _Job(topic, CurrentTable("bench.film"))
    for _ in range(topic.batches):
        job.take()
    return job


def _microseconds(job: _Job, form: Form) -> float:
    """Return the CPU time of a change in the batches that count."""
    batches = job.batches[-form.turns :]
    return statistics.median(each.cpu_seconds for each in batches) / job.topic.changes * 1e6


def _keep_speed(form: Form) -> Result:
    job = _take_batches(world_for(form), form)
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


CHANGES = (
    least(
        "cdc-speed",
        "How many changes a second does a job bring into the current table, rows at random?",
        20_000,
        _keep_speed,
    ),
)
