"""Rungs of what producers send: records of three sizes, of which some or all are compressed."""

from __future__ import annotations

from functools import partial

from bench.ladder import Form, Result, Rung, least, race, ratio, speeds
from bench.spark.records import make_sized_frames, make_version
from bench.spark.ways import Product
from bench.spark.world import world_for

_FIRST = 1_000  # records in the first batch
_SHARE = {200: 8, 500: 8, 2_000: 16}  # of the records, by the bytes of one


def _compressed(size: int, form: Form) -> Result:
    world = world_for(form)
    version, some = make_version(0), world.records // _SHARE[size]
    frames = {share: make_sized_frames(version, size, share) for share in (0, 10, 100)}
    topics = {
        share: world.topic(f"sized-{size}-{share}", each, some) for share, each in frames.items()
    }
    # After the first batch with compressed records, all records are read otherwise than before.
    products = {share: Product(world, [version]) for share in topics}
    for share, topic in topics.items():
        products[share].take(world.read(topic, _FIRST))

    def take(share: int, topic: str) -> None:
        products[share].expect(some, world.read(topic))

    ways = {f"compressed_{share}": partial(take, share, topic) for share, topic in topics.items()}
    ways["compressed_0_since"] = partial(take, 10, topics[0])
    turns = race(ways, form.turns)
    lengths = {
        f"record_bytes_{share}": round(sum(map(len, each)) / len(each))
        for share, each in frames.items()
    }
    figure = ratio(turns, "compressed_100", "compressed_0")
    return Result(figure, "times", speeds(turns, some) | lengths)


FRAMES: tuple[Rung, ...] = tuple(
    least(
        f"compressed-{size}",
        f"records of {size:,} bytes, all of them compressed, against none",
        0.77,
        partial(_compressed, size),
    )
    for size in _SHARE
)
