"""Rungs of Spark's decoding: the scan of Kafka, one version, many, and other ways."""

from __future__ import annotations

import time
from functools import cache, partial

from bench.ladder import (
    Form,
    Result,
    Turns,
    Ways,
    choose,
    least,
    race,
    ratio,
    reported,
    speed,
    speeds,
)
from bench.spark.records import make_frames, make_versions
from bench.spark.ways import (
    COORDINATES,
    GLUE,
    Product,
    read_by_arrow,
    read_by_filters,
    read_by_pandas,
    read_one_schema,
    to_nowhere,
)
from bench.spark.world import BY_HAND, mixed_topic, world_for
from penstock.spark.decoding.decoder import Decoder
from penstock.spark.decoding.frames import split_frames

_FRAME = ("status", "schema", "compression", "payload")
_SCAN_SHARE = 4
_SLOW_SHARE = 16  # for ways that are several times slower


@cache
def _race_readers(form: Form) -> tuple[Turns, int]:
    """Race the scan of Kafka and the split of frames."""
    world = world_for(form)
    topic, some = mixed_topic(world, 1), world.records // _SCAN_SHARE

    def split() -> None:
        to_nowhere(split_frames(world.read(topic, some), GLUE).select(*_FRAME))

    ways = {
        "scan": lambda: to_nowhere(world.read(topic, some, BY_HAND).select("value")),
        "columns": lambda: to_nowhere(world.read(topic, some).select("value")),
        "split": split,
    }
    return race(ways, form.turns), some


def _scan(form: Form) -> Result:
    turns, records = _race_readers(form)
    return speed(turns, "scan", records)


def _compare(way: str, other: str, form: Form) -> Result:
    turns, records = _race_readers(form)
    parts = speeds(choose(turns, [other, way]), records)
    return Result(ratio(turns, way, other), "times", parts)


@cache
def _race_decoders(versions: int, form: Form) -> tuple[Turns, dict[str, float]]:
    """Race records of many versions and records of the middle version, in the same columns."""
    world = world_for(form)
    known = make_versions(versions)
    middle = known[(min(versions, 50) - 1) // 2]
    mixed = mixed_topic(world, versions)
    alone = world.topic(f"alone-{middle.number}", make_frames([middle])) if versions > 1 else mixed
    product = Product(world, known)

    def make_ways(some: int) -> Ways:
        return {
            "product": lambda: product.expect(some, world.read(mixed, some)),
            "one_schema": lambda: to_nowhere(
                read_one_schema(world.read(alone, some, BY_HAND), middle, known)
            ),
        }

    started, collected = time.perf_counter(), world.gc_seconds()
    turns = race(make_ways(world.records), form.turns + 2)
    collecting = (world.gc_seconds() - collected) / (time.perf_counter() - started)
    return turns, {"garbage_collection_share": round(collecting, 3)}


def _decode(versions: int, form: Form) -> Result:
    turns, more = _race_decoders(versions, form)
    parts = speeds(turns, world_for(form).records)
    return Result(ratio(turns, "product", "one_schema"), "times", parts | more)


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
        form.turns,
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


def _python(form: Form) -> Result:
    world = world_for(form)
    (version,) = make_versions(1)
    topic = mixed_topic(world, 1)
    some = world.records // _SLOW_SHARE
    product = Product(world, [version])
    turns = race(
        {
            "product": lambda: product.expect(some, world.read(topic, some)),
            "arrow": lambda: to_nowhere(read_by_arrow(world.read(topic, some, BY_HAND), version)),
            "pandas": lambda: to_nowhere(read_by_pandas(world.read(topic, some, BY_HAND), version)),
        },
        form.turns,
    )
    figure = min(ratio(turns, "product", other) for other in ("arrow", "pandas"))
    return Result(figure, "times", speeds(turns, some))


DECODING = (
    reported("spark-scan", "Kafka's values to nowhere, by Spark's own source", _scan),
    least(
        "columns-scan",
        "the same scan by the source of the jobs, whose records come as columns",
        1.5,
        partial(_compare, "columns", "scan"),
    ),
    least(
        "spark-split",
        "frames split into id and payload, against `columns-scan`",
        0.85,
        partial(_compare, "split", "columns"),
    ),
    *(
        least(
            f"decode-{count}",
            f"{count} version{'s' * (count > 1)} on one topic, against one schema written into the"
            " plan, the same columns",
            times,
            partial(_decode, count),
        )
        for count, times in {1: 1.5, 5: 1.5, 50: 1.5, 200: 1.4}.items()
    ),
    reported(
        "decode-memory",
        "`decode-1` with the records in memory: decoding without Kafka's scan",
        _decode_memory,
    ),
    least("decode-filters", "5 versions, against a union of filters, one per version", 4, _filters),
    least(
        "decode-python",
        "1 version, against fastavro in Python: the faster of `mapInArrow` and a pandas UDF",
        5,
        _python,
    ),
)
