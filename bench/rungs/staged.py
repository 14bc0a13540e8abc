"""Rungs of the staging job: one batch of many topics, a table each."""

from __future__ import annotations

import atexit
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import cache, partial

from bench.ladder import Result, Rung, least, race, ratio, reported, speeds
from bench.rungs.rows import running_dynamodb
from bench.spark.records import make_frames, make_versions
from bench.spark.ways import NoErrors, Product, QuickRegistry
from bench.spark.world import World, world_for
from penstock.records import Mode, Projection, RowShape
from penstock.registry import Registries
from penstock.spark.query.record_tables import RecordTables
from penstock.spark.query.record_task import RecordTable
from penstock.spark.query.stream import keep_records
from penstock.spark.query.topics import Step, TopicBatches
from penstock.spark.query.versions import VersionLookup
from penstock.spark.state.lease import NoLease
from penstock.spark.state.schema_ledger import Ledger, Lookup
from penstock.tables import BatchId

_TOPICS = (1, 5, 50)
_RECORDS = 10_000  # of a batch, as the job reads by default
_COLUMNS = Projection(lower_case=True)
_SHAPE = RowShape(("deviceid",), sort_name=None, event_time=None, mode=Mode.UPSERT)


class _Staging:
    """Batches of the same number of records in some number of topics."""

    def __init__(self, world: World, topics: Sequence[str], steps: Sequence[Step]) -> None:
        self._world, self._topics, self._number = world, topics, 0
        self._batches = TopicBatches(steps, str)

    def take(self) -> None:
        """Stage all records as the next batch."""
        self._number += 1
        records = self._world.read(",".join(self._topics))
        with keep_records(records, few=True) as kept:
            found = self._batches.take(kept, BatchId("bench", self._number)).rows
        assert found == _RECORDS


def _make_topics(world: World, count: int, kind: str) -> list[str]:
    topics = [f"{kind}-{count}-{at}" for at in range(count)]
    for topic in topics:
        world.write(topic, make_frames(make_versions(1)), _RECORDS // count)
    return topics


def _into_dynamodb(world: World, count: int) -> _Staging:
    topics = _make_topics(world, count, "rows")
    registries = Registries([QuickRegistry()])  # type: ignore[list-item]
    lookups = {}
    for topic in topics:
        ledger = Ledger(world.spark, f"file://{world.new_folder()}")
        ledger.add(Lookup(0, 1, tuple(make_versions(1))))
        lookups[topic] = VersionLookup(world.spark, registries, ledger, columns=_COLUMNS)
    tables = {topic: RecordTable(topic, _SHAPE, _COLUMNS) for topic in topics}
    framing = registries.framing
    return _Staging(world, topics, [RecordTables(tables, lookups, framing, NoErrors(), NoLease())])


def _through_spark(world: World, count: int) -> _Staging:
    topics = _make_topics(world, count, "columns")
    versions = make_versions(1)
    return _Staging(
        world,
        topics,
        [(topic, Product(world, versions, columns=_COLUMNS).batches) for topic in topics],
    )


def _find_dynamodb(world: World) -> None:
    """Start a DynamoDB that Spark's tasks find, until this process ends."""
    stack = ExitStack()
    atexit.register(stack.close)
    world.spark.sparkContext.environment.update(
        AWS_ENDPOINT_URL=stack.enter_context(running_dynamodb(0)),
        AWS_ACCESS_KEY_ID="AKIA",
        AWS_SECRET_ACCESS_KEY="s" * 40,
        AWS_REGION="eu-central-1",
    )


@cache
def _race_tables(count: int) -> Mapping[str, list[float]]:
    world = world_for(count)
    _find_dynamodb(world)
    return race({f"topics_{each}": _into_dynamodb(world, each).take for each in _TOPICS})


def _compare(topics: int, count: int) -> Result:
    turns = _race_tables(count)
    chosen = {name: turns[name] for name in ("topics_1", f"topics_{topics}")}
    return Result(ratio(turns, f"topics_{topics}", "topics_1"), "times", speeds(chosen, _RECORDS))


def _compare_columns(count: int) -> Result:
    world = world_for(count)
    turns = race({f"topics_{each}": _through_spark(world, each).take for each in (1, 5)})
    return Result(ratio(turns, "topics_5", "topics_1"), "times", speeds(turns, _RECORDS))


STAGED: tuple[Rung, ...] = (
    *(
        least(
            f"staged-{topics}",
            f"a batch of {_RECORDS:,} records of {topics} topics into {topics} DynamoDB tables"
            " (R20), against one topic and table",
            0.8,
            partial(_compare, topics),
        )
        for topics in _TOPICS[1:]
    ),
    reported(
        "staged-columns-5",
        f"a batch of {_RECORDS:,} records of 5 topics decoded by Spark, as for a lake, to nowhere,"
        " against one topic",
        _compare_columns,
    ),
)
