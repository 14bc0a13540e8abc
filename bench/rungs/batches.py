"""Rungs of Spark's batches and whole jobs."""

from __future__ import annotations

import sys
import time
from contextlib import redirect_stdout
from functools import cache, partial
from pathlib import Path

from bench.ladder import Form, Result, Turns, choose, least, most, race, ratio, speeds
from bench.spark.jobs import BegunJobs
from bench.spark.records import make_frames, make_versions
from bench.spark.ways import Product, read_cached, read_one_schema, to_nowhere, write_days
from bench.spark.world import BY_HAND, mixed_topic, world_for
from penstock.spark.sinks.iceberg import LakeSettings
from penstock.spark.sinks.settings import SinkSettings

_FEW = 10_000
_JOB_SHARE, _POISON_SHARE, _EVOLVING_SHARE = 4, 8, 8  # of the records
_TABLE = "bench.readings"


def _job_to_iceberg(form: Form) -> Result:
    """Race the whole job with its two halves: decoding, and writing rows from memory."""
    world = world_for(form)
    known, topic, some = make_versions(5), mixed_topic(world, 5), world.records // _JOB_SHARE
    written = world.new_folder()
    lake = Path(str(world.spark.conf.get("spark.sql.catalog.lake.warehouse")), *_TABLE.split("."))
    sinks = {"iceberg": SinkSettings("errors", "parked", {"iceberg": LakeSettings(_TABLE)})}
    with redirect_stdout(sys.stderr):  # the lines that jobs print for their batches
        jobs = BegunJobs(world, sinks, [lake], some)
        product, rows = Product(world, known), read_cached(world.read(topic, some), known)
        turns = race(
            {
                "iceberg": lambda: jobs.run("iceberg"),
                "decode": lambda: product.expect(some, world.read(topic, some)),
                "write": lambda: write_days(rows, str(written)),
            },
            form.turns,
        )
    rows.unpersist()
    halves = zip(turns["decode"], turns["write"], strict=True)
    both = turns | {"halves": [sum(each) for each in halves]}
    return Result(ratio(both, "iceberg", "halves"), "times", speeds(turns, some))


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


def _new_version(form: Form) -> Result:
    """Race a batch that brings a version with the same batch when the version is known."""
    world = world_for(form)
    some = world.records // _EVOLVING_SHARE
    known = make_versions(5)
    before, after = world.topic("mixed-4", make_frames(known[:4]), some), mixed_topic(world, 5)

    def take(count: int) -> float:
        product = Product(world, known[:count], known[count:])
        product.take(world.read(before, min(_FEW, some)))
        started = time.perf_counter()
        product.expect(some, world.read(after, some))
        return time.perf_counter() - started

    turns = race({"new": lambda: take(4), "known": lambda: take(5)}, form.turns)
    figure = 1 / ratio(turns, "new", "known")
    return Result(figure, "times the time", speeds(turns, some))


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
    least(
        "job-iceberg",
        "How fast is the whole job to Iceberg, against decoding, and then writing Parquet?",
        0.85,
        _job_to_iceberg,
    ),
    least(
        "decode-evolving",
        "How fast are 3 batches of which one brings a version, against one schema in the plan?",
        0.9,
        _evolving,
    ),
    most(
        "new-version",
        "How long does a batch take that brings a version, against one whose versions are known?",
        1.3,
        _new_version,
    ),
    *(
        least(
            f"poison-{percent}",
            f"How fast is a batch with {percent} % damaged records, against one with none?",
            times,
            partial(_poison, percent),
        )
        for percent, times in {1: 0.9, 10: 0.7}.items()
    ),
)
