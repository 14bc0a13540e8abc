"""Rungs of what producers send: records of three sizes, of which some or all are compressed."""

from __future__ import annotations

from functools import cache, partial

from bench.ladder import Form, Result, Rung, Turns, least, race, ratio, speeds
from bench.spark.records import make_sized_frames, make_version
from bench.spark.ways import Product
from bench.spark.world import world_for

_SHARE = {200: 8, 500: 8, 2_000: 16}  # of the records, by the bytes of one


@cache
def _race_sizes(size: int, form: Form) -> tuple[Turns, dict[str, float]]:
    world = world_for(form)
    version, some = make_version(0), world.records // _SHARE[size]
    frames = {share: make_sized_frames(version, size, share) for share in (0, 10, 100)}
    topics = {
        share: world.topic(f"sized-{size}-{share}", each, some) for share, each in frames.items()
    }
    product = Product(world, [version])

    def take(topic: str) -> None:
        product.expect(some, world.read(topic))

    ways = {f"compressed_{share}": partial(take, topic) for share, topic in topics.items()}
    turns = race(ways, form.turns)
    lengths = {
        f"record_bytes_{share}": round(sum(map(len, each)) / len(each))
        for share, each in frames.items()
    }
    return turns, speeds(turns, some) | lengths


def _compressed(size: int, form: Form) -> Result:
    turns, parts = _race_sizes(size, form)
    return Result(ratio(turns, "compressed_100", "compressed_0"), "times", parts)


FRAMES: tuple[Rung, ...] = (
    *(
        least(
            f"compressed-{size}",
            f"records of {size:,} bytes, all of them compressed, against none",
            0.77,
            partial(_compressed, size),
        )
        for size in _SHARE
    ),
)
