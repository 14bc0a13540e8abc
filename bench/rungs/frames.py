"""The rung of what producers send: records of three sizes, compressed or not."""

from __future__ import annotations

from functools import partial

from bench.ladder import Form, Result, Rung, least, race, ratio, speeds
from bench.spark.records import make_sized_frames, make_version
from bench.spark.ways import Product
from bench.spark.world import world_for

_SHARE = {200: 8, 500: 8, 2_000: 16}  # of the records, by the bytes of one


def _compressed(form: Form) -> Result:
    """Race compressed and plain records of each size; the figure is of the size that loses most."""
    world, version = world_for(form), make_version(0)
    product, parts = Product(world, [version]), {}
    for size, share in _SHARE.items():
        some = world.records // share
        frames = {
            name: make_sized_frames(version, size, percent)
            for name, percent in (("plain", 0), ("compressed", 100))
        }
        topics = {
            name: world.topic(f"sized-{size}-{name}", each, some) for name, each in frames.items()
        }

        def take(topic: str, some: int) -> None:
            product.expect(some, world.read(topic))

        turns = race(
            {name: partial(take, topic, some) for name, topic in topics.items()}, form.turns
        )
        parts[f"{size}_bytes_times"] = round(ratio(turns, "compressed", "plain"), 3)
        parts |= speeds({f"{name}_{size}": each for name, each in turns.items()}, some)
        for name, each in frames.items():
            parts[f"{name}_bytes_at_{size}"] = round(sum(map(len, each)) / len(each))
    del parts["records"]  # of the last size alone
    return Result(min(parts[f"{size}_bytes_times"] for size in _SHARE), "times", parts)


FRAMES: tuple[Rung, ...] = (
    least(
        "compressed",
        "How fast are compressed records of 200, 500 or 2,000 bytes decoded, against plain ones?",
        0.9,
        _compressed,
    ),
)
