"""Rungs of what producers send: records of three sizes, of which some or all are compressed."""

from __future__ import annotations

from functools import cache, partial

from bench.ladder import Form, Result, Rung, Turns, least, race, ratio, speeds
from bench.spark.records import make_sized_frames, make_version
from bench.spark.ways import Product
from bench.spark.world import world_for

_FIRST = 1_000  # records in the first batch
_SHARE = {200: 8, 500: 8, 2_000: 16}  # of the records, by the bytes of one


@cache
def _race_sizes(size: int, form: Form) -> tuple[Turns, dict[str, float]]:
    world = world_for(form)
    version, some = make_version(0), world.records // _SHARE[size]
    frames = {share: make_sized_frames(version, size, share) for share in (0, 10, 100)}
    topics = {
        share: world.topic(f"sized-{size}-{share}", each, some) for share, each in frames.items()
    }
    # After the first batch with compressed records, all records are read otherwise than before.
    products = {share: Product(world, [version]) for share in topics}
    in_java = {share: Product(world, [version], in_java=True) for share in topics}
    for share, topic in topics.items():
        products[share].take(world.read(topic, _FIRST))
        in_java[share].take(world.read(topic, _FIRST))

    def take(product: Product, topic: str) -> None:
        product.expect(some, world.read(topic))

    ways = {
        f"{name}_{share}": partial(take, each[share], topics[share])
        for name, each in (("compressed", products), ("java", in_java))
        for share in topics
    }
    ways["compressed_0_since"] = partial(take, products[10], topics[0])
    turns = race(ways, form.turns)
    lengths = {
        f"record_bytes_{share}": round(sum(map(len, each)) / len(each))
        for share, each in frames.items()
    }
    return turns, speeds(turns, some) | lengths


def _compressed(way: str, size: int, form: Form) -> Result:
    turns, parts = _race_sizes(size, form)
    chosen = {name: part for name, part in parts.items() if name.startswith((way, "record"))}
    return Result(ratio(turns, f"{way}_100", f"{way}_0"), "times", chosen)


FRAMES: tuple[Rung, ...] = (
    *(
        least(
            f"compressed-{size}",
            f"records of {size:,} bytes, all of them compressed, against none",
            0.77,
            partial(_compressed, "compressed", size),
        )
        for size in _SHARE
    ),
    *(
        least(
            f"compressed-java-{size}",
            f"`compressed-{size}` with the optional jar",
            0.77,
            partial(_compressed, "java", size),
        )
        for size in _SHARE
    ),
)
