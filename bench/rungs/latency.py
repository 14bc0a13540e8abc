"""Rungs of a batch's latency on localcloud: one record, and two sinks at once."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from contextlib import ExitStack

from bench.ladder import Form, Result, least, most
from bench.spark.latency import SINKS, Batch, running_job, using_aws
from bench.spark.world import world_for

_WARM = 12  # batches that the JVM compiles in
_MANY = 500  # records of a batch to compare sinks


def _take(form: Form, sinks: Sequence[str], records: int, warm: int) -> dict[str, list[Batch]]:
    """Return the batches of each job, which take turns; the first ones are left out."""
    world = world_for(form)
    turns = warm + 5 * form.turns if form.turns > 1 else 2
    with using_aws(world) as aws, ExitStack() as stack:
        jobs = {name: stack.enter_context(running_job(world, aws, name)) for name in sinks}
        batches: dict[str, list[Batch]] = {name: [] for name in sinks}
        for turn in range(turns):
            for name in list(jobs) if turn % 2 == 0 else reversed(jobs):
                batches[name].append(jobs[name].take(records))
    return {name: found[turns - 5 * form.turns :] or found for name, found in batches.items()}


def _one_record(form: Form) -> Result:
    batches = _take(form, ["both"], 1, _WARM)["both"]
    calls = {name: float(count) for name, count in sorted(batches[-1].calls.items())}
    own = statistics.median(each.seconds - each.answering for each in batches)
    parts = {
        "seconds": round(statistics.median(each.seconds for each in batches), 3),
        "fastest_seconds": round(min(each.seconds for each in batches), 3),
        "calls": statistics.median(each.calls.total() for each in batches),
    }
    return Result(own, "seconds", parts | calls)


def _at_once(form: Form) -> Result:
    batches = _take(form, list(SINKS), _MANY, _WARM // 2)
    pairs = zip(*batches.values(), strict=True)
    ratios = [max(lake.seconds, table.seconds) / both.seconds for lake, table, both in pairs]
    parts = {
        f"{name}_seconds": round(statistics.median(each.seconds for each in found), 3)
        for name, found in batches.items()
    }
    return Result(statistics.median(ratios), "times", {"records": float(_MANY), **parts})


LATENCY = (
    most(
        "latency-both",
        "How long does a batch of one record to the lake and DynamoDB take, but for AWS's answers?",
        1.0,
        _one_record,
    ),
    least(
        "sinks-at-once",
        "How fast are batches to the lake and DynamoDB, against the slower of the two alone?",
        0.85,
        _at_once,
    ),
)
