"""Rungs of Spark's decoding (R1 to R6): the scan of Kafka, one version, many, and other ways."""

from __future__ import annotations

import time
from functools import cache, partial

from bench.ladder import Result, least, race, ratio, reported, speeds
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
from bench.spark.world import mixed_topic, world_for
from penstock.spark.decoding.decoder import Decoder
from penstock.spark.decoding.frames import split_frames

_FRAME = ("status", "schema", "compression", "payload")
_PYTHON_SHARE = 4  # of the records: Python's ways are slow
_Turns = dict[str, list[float]]


@cache
def _race_readers(count: int) -> tuple[_Turns, int]:
    """Race the scan of Kafka and the ways to decode it."""
    world = world_for(count)
    topic = mixed_topic(world, 1)
    return race(
        {
            "scan": lambda: to_nowhere(world.read(topic).select("value")),
            "split": lambda: to_nowhere(split_frames(world.read(topic), GLUE).select(*_FRAME)),
        }
    ), world.records


def _scan(count: int) -> Result:
    turns, records = _race_readers(count)
    parts = {name: figure for name, figure in speeds(turns, records).items() if "split" not in name}
    return Result(parts["scan_rows_per_second"], "rows a second", parts)


def _split(count: int) -> Result:
    turns, records = _race_readers(count)
    return Result(ratio(turns, "split", "scan"), "times", speeds(turns, records))


def _decode(versions: int, count: int) -> Result:
    """Compare records of many versions with records of the middle version, in the same columns."""
    world = world_for(count)
    known = make_versions(versions)
    middle = known[(min(versions, 50) - 1) // 2]
    mixed = mixed_topic(world, versions)
    alone = world.topic(f"alone-{middle.number}", make_frames([middle])) if versions > 1 else mixed
    product = Product(world, known)
    started, collected = time.perf_counter(), world.gc_seconds()
    turns = race(
        {
            "product": lambda: product.expect(world.records, world.read(mixed)),
            "one_schema": lambda: to_nowhere(read_one_schema(world.read(alone), middle, known)),
        }
    )
    collecting = (world.gc_seconds() - collected) / (time.perf_counter() - started)
    parts = speeds(turns, world.records) | {"garbage_collection_share": round(collecting, 3)}
    return Result(ratio(turns, "product", "one_schema"), "times", parts)


def _decode_memory(count: int) -> Result:
    """Measure the steps of decoding from memory, where Kafka's scan does not hide their cost."""
    world = world_for(count)
    known = make_versions(1)
    records = world.read(mixed_topic(world, 1)).cache()
    records.count()
    decoder, product = Decoder(known), Product(world, known)

    def decode() -> None:
        rows = decoder.select(decoder.decode(split_frames(records, GLUE)))
        to_nowhere(rows.select("event.*", *COORDINATES))

    turns = race(
        {
            "values": lambda: to_nowhere(records.select("value")),
            "split": lambda: to_nowhere(split_frames(records, GLUE).select(*_FRAME)),
            "one_schema": lambda: to_nowhere(read_one_schema(records, known[0], known)),
            "decode": decode,
            "product": lambda: product.expect(world.records, records),
        }
    )
    records.unpersist()
    return Result(ratio(turns, "product", "one_schema"), "times", speeds(turns, world.records))


def _filters(count: int) -> Result:
    world = world_for(count)
    known, topic = make_versions(5), mixed_topic(world, 5)
    product = Product(world, known)
    turns = race(
        {
            "product": lambda: product.expect(world.records, world.read(topic)),
            "filters": lambda: to_nowhere(read_by_filters(world.read(topic), known)),
        }
    )
    return Result(ratio(turns, "product", "filters"), "times", speeds(turns, world.records))


def _python(count: int) -> Result:
    world = world_for(count)
    (version,) = make_versions(1)
    topic = mixed_topic(world, 1)
    some = world.records // _PYTHON_SHARE
    product = Product(world, [version])
    turns = race(
        {
            "product": lambda: product.expect(some, world.read(topic, some)),
            "arrow": lambda: to_nowhere(read_by_arrow(world.read(topic, some), version)),
            "pandas": lambda: to_nowhere(read_by_pandas(world.read(topic, some), version)),
        }
    )
    figure = min(ratio(turns, "product", other) for other in ("arrow", "pandas"))
    return Result(figure, "times", speeds(turns, some))


DECODING = (
    reported("spark-scan", "Kafka's values to nowhere (R1): what a job can reach at most", _scan),
    least("spark-split", "frames split into id and payload (R2), against R1", 0.85, _split),
    *(
        least(
            f"decode-{count}",
            f"{count} version{'s' * (count > 1)} on one topic (R4), against one schema written "
            "into the plan (R3), the same columns",
            times,
            partial(_decode, count),
        )
        for count, times in {1: 0.95, 5: 0.93, 50: 0.90, 200: 0.85}.items()
    ),
    reported(
        "decode-memory",
        "1 version, the records in memory: decoding without Kafka's scan, against one schema",
        _decode_memory,
    ),
    least("decode-filters", "5 versions (R4), against a union of filters (R5)", 4, _filters),
    least(
        "decode-python",
        "1 version (R4), against fastavro in Python, the faster of two ways (R6)",
        5,
        _python,
    ),
)
