"""Rungs of the columnar prototype, against one fixed schema and the product, both from Kafka.

All ways fetch as the jobs do, so Spark's own source asks the broker a tenth as often as it would.
"""

from __future__ import annotations

from functools import cache, partial

from bench.ladder import Form, Result, Turns, Ways, choose, least, race, ratio, speeds
from bench.spark.columnar import ColumnarProduct, load_source, read_columns
from bench.spark.records import make_frames, make_versions
from bench.spark.ways import Product, read_one_schema, to_nowhere
from bench.spark.world import mixed_topic, world_for


@cache
def _race(versions: int, form: Form) -> Turns:
    """Race the prototype, its source under the product, the product, and one schema."""
    world = world_for(form)
    known = make_versions(versions)
    middle = known[(min(versions, 50) - 1) // 2]
    mixed = mixed_topic(world, versions)
    alone = world.topic(f"alone-{middle.number}", make_frames([middle])) if versions > 1 else mixed
    product, columnar = Product(world, known), ColumnarProduct(world, known)

    def make_ways(some: int) -> Ways:
        return {
            "columnar": lambda: columnar.expect(some, mixed),
            "source": lambda: product.expect(some, read_columns(world, mixed, some)),
            "product": lambda: product.expect(some, world.read(mixed, some, as_jobs=True)),
            "one_schema": lambda: to_nowhere(
                read_one_schema(world.read(alone, some, as_jobs=True), middle, known)
            ),
        }

    return race(make_ways(form.records), form.turns + 2)


def _decode(versions: int, form: Form) -> Result:
    turns = _race(versions, form)
    parts = speeds(turns, form.records)
    parts["product_ratio"] = ratio(turns, "columnar", "product")
    return Result(ratio(turns, "columnar", "one_schema"), "times", parts)


def _scan(form: Form) -> Result:
    """Race the polls of both sources, without decoding."""
    world = world_for(form)
    load_source(world)
    topic, some = mixed_topic(world, 1), form.records // 4
    ways = {
        "polls": lambda: to_nowhere(world.read(topic, some, as_jobs=True).select("value")),
        "columns": lambda: to_nowhere(read_columns(world, topic, some).select("value")),
        "offsets": lambda: to_nowhere(read_columns(world, topic, some).select("offset")),
    }
    turns = race(ways, form.turns)
    parts = speeds(turns, some)
    return Result(ratio(choose(turns, ["columns", "polls"]), "columns", "polls"), "times", parts)


COLUMNAR = (
    least(
        "columnar-scan",
        "Kafka's values as columns to nowhere, against the same scan by Spark's source",
        1.2,
        _scan,
    ),
    *(
        least(
            f"columnar-{count}",
            f"the columnar prototype, {count} version{'s' * (count > 1)} on one topic, against one"
            " schema written into the plan",
            1.2,
            partial(_decode, count),
        )
        for count in (1, 5, 50, 200)
    ),
)
