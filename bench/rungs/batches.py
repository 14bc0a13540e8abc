"""Rungs of Spark's batches and whole jobs."""

from __future__ import annotations

import operator
import statistics
import sys
import time
from contextlib import redirect_stdout
from functools import cache, partial
from pathlib import Path

from bench.ladder import (
    Form,
    Result,
    Turns,
    choose,
    least,
    most,
    race,
    ratio,
    reported,
    speed,
    speeds,
)
from bench.spark.jobs import BegunJobs
from bench.spark.records import make_frames, make_versions
from bench.spark.ways import Product, read_cached, read_one_schema, to_nowhere, write_days
from bench.spark.world import BY_HAND, mixed_topic, world_for
from penstock.extensions.parquet.spark import ParquetSettings
from penstock.spark.sinks.iceberg import LakeSettings
from penstock.spark.sinks.settings import SinkSettings

_FEW, _NEXT_TO_NOTHING = 10_000, 40
_BATCHES, _SOME = 80, 20
_JOB_SHARE, _POISON_SHARE, _EVOLVING_SHARE = 4, 8, 8  # of the records
_TABLE = "bench.readings"


@cache
def _race_jobs(form: Form) -> tuple[Turns, int]:
    """Race whole jobs and the two halves of one: decoding, and writing rows from memory."""
    world = world_for(form)
    known, topic, some = make_versions(5), mixed_topic(world, 5), world.records // _JOB_SHARE
    written = world.new_folder()
    lake = Path(str(world.spark.conf.get("spark.sql.catalog.lake.warehouse")), *_TABLE.split("."))
    sinks = {
        "parquet": SinkSettings(
            "errors", "parked", {"parquet": ParquetSettings(f"{written}/parquet")}
        ),
        "iceberg": SinkSettings("errors", "parked", {"iceberg": LakeSettings(_TABLE)}),
    }
    with redirect_stdout(sys.stderr):  # the lines that jobs print for their batches
        jobs = BegunJobs(world, sinks, [written, lake], some)
        product, rows = Product(world, known), read_cached(world.read(topic, some), known)
        turns = race(
            {
                "cached": lambda: to_nowhere(rows),
                "decode": lambda: product.expect(some, world.read(topic, some)),
                "write": lambda: write_days(rows, f"{written}-cached"),
                "parquet": lambda: jobs.run("parquet"),
                "iceberg": lambda: jobs.run("iceberg"),
            },
            form.turns,
        )
    rows.unpersist()
    return turns, some


def _floor(form: Form) -> Result:
    turns, records = _race_jobs(form)
    return speed(turns, "cached", records)


def _job_to_parquet(form: Form) -> Result:
    turns, records = _race_jobs(form)
    halves = zip(turns["decode"], turns["write"], strict=True)
    both = turns | {"halves": [sum(each) for each in halves]}
    chosen = choose(both, ["parquet", "decode", "write"])
    return Result(ratio(both, "parquet", "halves"), "times", speeds(chosen, records))


def _job_to_iceberg(form: Form) -> Result:
    turns, records = _race_jobs(form)
    chosen = choose(turns, ["iceberg", "parquet"])
    return Result(ratio(turns, "iceberg", "parquet"), "times", speeds(chosen, records))


def _new_version(form: Form) -> Result:
    """Compare a batch that brings a new version with the same batch when the version is known."""
    world = world_for(form)
    known, topic, first = make_versions(5), mixed_topic(world, 5), mixed_topic(world, 1)
    few = min(_FEW, world.records // 2)

    def take(knows: int) -> float:
        product = Product(world, known[:knows], known[knows:])
        product.take(world.read(first, few))  # like a query that has run for a while
        started = time.perf_counter()
        done = product.take(world.read(topic, few))
        assert (done.new_schemas, done.errors) == (5 - knows, {})
        return time.perf_counter() - started

    turns = race({"new": lambda: take(4), "known": lambda: take(5)}, form.turns)
    medians = {f"{name}_seconds": statistics.median(each) for name, each in turns.items()}
    extra = statistics.median(map(operator.sub, turns["new"], turns["known"]))
    return Result(extra, "seconds", {"records": few, **medians})


def _evolving(form: Form) -> Result:
    """Run three batches of a running query; the second brings a new version."""
    world = world_for(form)
    some = world.records // _EVOLVING_SHARE
    known = make_versions(5)
    after, alone = mixed_topic(world, 5), mixed_topic(world, 1)
    before = world.topic("mixed-4", make_frames(known[:4]), some)

    def evolve() -> float:
        product = Product(world, known[:4], known[4:])
        product.take(world.read(before, min(_FEW, some)))
        started = time.perf_counter()
        product.expect(some, world.read(before))
        for _ in range(2):
            product.expect(some, world.read(after, some))
        return time.perf_counter() - started

    def stay() -> None:
        for _ in range(3):
            to_nowhere(read_one_schema(world.read(alone, some, BY_HAND), known[0], known))

    turns = race({"product": evolve, "one_schema": stay}, form.turns)
    return Result(ratio(turns, "product", "one_schema"), "times", speeds(turns, 3 * some))


def _planning(form: Form) -> Result:
    """Run batches of almost no records, and compare the last with the first."""
    world = world_for(form)
    topic, product = mixed_topic(world, 5), Product(world, make_versions(5))
    some = min(_SOME, form.calls // 5)
    seconds = []
    for _ in range(_BATCHES * some // _SOME):
        started = time.perf_counter()
        product.take(world.read(topic, _NEXT_TO_NOTHING))
        seconds.append(time.perf_counter() - started)
    # The batches before are slower: the JVM still compiles the planner.
    first, last = map(statistics.median, (seconds[some : 2 * some], seconds[-some:]))
    parts = {"first_milliseconds": first * 1e3, "last_milliseconds": last * 1e3}
    return Result(last / first, "times the time", parts)


@cache
def _race_poison(form: Form) -> tuple[Turns, int]:
    world = world_for(form)
    some = world.records // _POISON_SHARE
    product = Product(world, make_versions(1))

    def take(percent: int, topic: str) -> None:
        product.expect(some * (100 - percent) // 100, world.read(topic))

    topics = {
        percent: world.topic(
            f"poison-{percent}", make_frames(make_versions(1), percent / 100), some
        )
        for percent in (0, 1, 10)
    }
    ways = {f"poison_{each}": partial(take, each, topic) for each, topic in topics.items()}
    return race(ways, form.turns), some


def _poison(percent: int, form: Form) -> Result:
    turns, records = _race_poison(form)
    chosen = choose(turns, ["poison_0", f"poison_{percent}"])
    figure = ratio(turns, f"poison_{percent}", "poison_0")
    return Result(figure, "times", speeds(chosen, records))


BATCHES = (
    reported("spark-floor", "decoded rows in memory to nowhere", _floor),
    least(
        "job-parquet",
        "the whole job to Parquet, against its halves one after the other: decoding, and writing"
        " what is in memory",
        0.85,
        _job_to_parquet,
    ),
    least(
        "job-iceberg", "the whole job to Iceberg, against the one to Parquet", 0.8, _job_to_iceberg
    ),
    most(
        "new-version",
        "what a new version costs the batch that brings it, once",
        1,
        _new_version,
    ),
    least(
        "decode-evolving",
        "3 batches, the second of which brings a version, against one schema written into the plan",
        0.85,
        _evolving,
    ),
    most(
        "planning",
        "a batch of next to nothing after 60 batches, against after 20",
        1.1,
        _planning,
    ),
    *(
        least(
            f"poison-{percent}",
            f"{percent} % of the records damaged, against none",
            times,
            partial(_poison, percent),
        )
        for percent, times in {1: 0.5, 10: 0.4}.items()
    ),
)
