"""Rungs of Spark's decoding: the scan of Kafka, one version, many, and other ways."""

from __future__ import annotations

import time
from functools import partial

from bench.ladder import (
    Form,
    Result,
    least,
    race,
    ratio,
    speeds,
)
from bench.spark.records import make_frames, make_versions
from bench.spark.ways import (
    COORDINATES,
    GLUE,
    Product,
    read_by_filters,
    read_one_schema,
    to_nowhere,
)
from bench.spark.world import BY_HAND, mixed_topic, world_for
from penstock.spark.decoding.decoder import Decoder
from penstock.spark.decoding.frames import split_frames

_FRAME = ("status", "schema", "compression", "payload")
_SCAN_SHARE = 4
_SLOW_SHARE = 16  # for ways that are several times slower
_COMPILING = 4  # turns: the JVM compiles a stage of 69 columns for 8 s, beside its tasks


def _columns_scan(form: Form) -> Result:
    world = world_for(form)
    topic, some = mixed_topic(world, 1), world.records // _SCAN_SHARE
    turns = race(
        {
            "scan": lambda: to_nowhere(world.read(topic, some, BY_HAND).select("value")),
            "columns": lambda: to_nowhere(world.read(topic, some).select("value")),
        },
        form.turns,
    )
    return Result(ratio(turns, "columns", "scan"), "times", speeds(turns, some))


def _decode(versions: int, form: Form) -> Result:
    """Race records of many versions and records of the middle version, in the same columns."""
    world = world_for(form)
    known = make_versions(versions)
    middle = known[(min(versions, 50) - 1) // 2]
    mixed = mixed_topic(world, versions)
    alone = world.topic(f"alone-{middle.number}", make_frames([middle])) if versions > 1 else mixed
    product = Product(world, known)

    some = world.records
    ways = {
        "product": lambda: product.expect(some, world.read(mixed, some)),
        "one_schema": lambda: to_nowhere(
            read_one_schema(world.read(alone, some, BY_HAND), middle, known)
        ),
    }

    started, collected = time.perf_counter(), world.gc_seconds()
    turns = race(ways, form.turns + 2, dropped=_COMPILING)
    collecting = (world.gc_seconds() - collected) / (time.perf_counter() - started)
    parts = speeds(turns, some) | {"garbage_collection_share": round(collecting, 3)}
    return Result(ratio(turns, "product", "one_schema"), "times", parts)


def _decode_memory(form: Form) -> Result:
    """Measure the steps of decoding from memory, where Kafka's scan does not hide their cost."""
    world = world_for(form)
    known, some = make_versions(1), world.records // 2
    records = world.read(mixed_topic(world, 1), some).cache()
    records.count()
    decoder, product = Decoder(world.spark, known), Product(world, known)

    def decode() -> None:
        rows = decoder.select(decoder.decode(split_frames(records, GLUE)))
        to_nowhere(rows.select("event.*", *COORDINATES))

    turns = race(
        {
            "values": lambda: to_nowhere(records.select("value")),
            "split": lambda: to_nowhere(split_frames(records, GLUE).select(*_FRAME)),
            "one_schema": lambda: to_nowhere(read_one_schema(records, known[0], known)),
            "decode": decode,
            "product": lambda: product.expect(some, records),
        },
        form.turns + 2,
        dropped=2 * _COMPILING,
    )
    records.unpersist()
    return Result(ratio(turns, "product", "one_schema"), "times", speeds(turns, some))


def _filters(form: Form) -> Result:
    world = world_for(form)
    known, topic, some = make_versions(5), mixed_topic(world, 5), world.records // _SLOW_SHARE
    product = Product(world, known)
    turns = race(
        {
            "product": lambda: product.expect(some, world.read(topic, some)),
            "filters": lambda: to_nowhere(read_by_filters(world.read(topic, some, BY_HAND), known)),
        },
        form.turns,
    )
    return Result(ratio(turns, "product", "filters"), "times", speeds(turns, some))


DECODING = (
    least(
        "columns-scan",
        "How fast do jobs read Kafka, against Spark's own source?",
        1.5,
        _columns_scan,
    ),
    *(
        least(
            f"decode-{count}",
            f"How fast are records of {count} version{'s' * (count > 1)} decoded, against a plan"
            " with one schema?",
            times,
            partial(_decode, count),
        )
        for count, times in {1: 1.5, 5: 1.5, 50: 1.5, 200: 1.4}.items()
    ),
    least(
        "decode-memory",
        "How fast are records of 1 version in memory decoded, without Kafka, against the same?",
        1,
        _decode_memory,
    ),
    least(
        "decode-filters",
        "How fast are records of 5 versions decoded, against a filter for each, and a union?",
        4,
        _filters,
    ),
)
