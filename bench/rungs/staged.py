"""Rungs of the staging job: one batch of many topics, a table each."""

from __future__ import annotations

from functools import cache, partial

from bench.ladder import Result, Rung, least, race, ratio, speeds
from bench.spark.records import make_frames, make_versions
from bench.spark.ways import Product
from bench.spark.world import World, world_for
from penstock.records import Projection
from penstock.spark.query.stream import keep_records
from penstock.spark.query.topics import TopicBatches
from penstock.tables import BatchId

_TOPICS = (1, 5, 50)


class _Staging:
    """Batches of the same number of records in some number of topics."""

    def __init__(self, world: World, topics: int) -> None:
        self._world, self._number = world, 0
        self._topics = [f"staged-{topics}-{at}" for at in range(topics)]
        frames = make_frames(make_versions(1))
        for topic in self._topics:
            world.write(topic, frames, world.records // topics)
        tables = {
            topic: Product(world, make_versions(1), columns=Projection(lower_case=True)).batches
            for topic in self._topics
        }
        self._batches = TopicBatches(tables, str)

    def take(self) -> None:
        """Stage all records as the next batch."""
        self._number += 1
        records = self._world.read(",".join(self._topics))
        with keep_records(records, few=True) as kept:
            found = self._batches.take(kept, BatchId("bench", self._number)).rows
        assert found == self._world.records // len(self._topics) * len(self._topics)


@cache
def _race_topics(count: int) -> tuple[dict[str, list[float]], int]:
    world = world_for(count)
    ways = {f"topics_{topics}": _Staging(world, topics).take for topics in _TOPICS}
    return race(ways), world.records


def _compare(topics: int, count: int) -> Result:
    turns, records = _race_topics(count)
    chosen = {name: turns[name] for name in ("topics_1", f"topics_{topics}")}
    return Result(ratio(turns, f"topics_{topics}", "topics_1"), "times", speeds(chosen, records))


STAGED: tuple[Rung, ...] = tuple(
    least(
        f"staged-{topics}",
        f"rows staged from {topics} topics into {topics} tables, against one topic and table",
        0.8,
        partial(_compare, topics),
    )
    for topics in _TOPICS[1:]
)
