"""Rungs of routes by schema name: the job with many tables, against the same with one."""

from __future__ import annotations

from functools import cache, partial

from bench.ladder import Form, Result, Rung, Turns, choose, least, race, ratio, speeds
from bench.spark.records import make_frames, make_named_versions
from bench.spark.ways import NoErrors, Outlet, QuickRegistry
from bench.spark.world import PARTITIONS, World, world_for
from penstock.registry import Registries
from penstock.spark.query.source import open_stream
from penstock.spark.query.stream import StreamQuery
from penstock.spark.settings.consume import ReadSettings

_MANY = (15, 50)
_SHARE = 4  # of the records


def _run(world: World, topic: str, routes: int, records: int) -> float:
    """Take all records of a topic as one batch; return its seconds, without looking up schemas."""
    versions = make_named_versions(routes)
    tables = {version.name: [Outlet()] for version in versions}
    query = StreamQuery(
        # A session of its own: a query leaves a listener in its session, which hears of later ones.
        stream=open_stream(
            world.spark.newSession(),
            world.kafka(),
            ReadSettings(topics=(topic,), max_offsets_per_trigger=records // 2 + PARTITIONS),
        ),
        checkpoint=f"file://{world.new_folder()}",
        registries=Registries([QuickRegistry(versions)]),  # type: ignore[list-item]
        sinks=tables,
        errors=NoErrors(),
        routes={name: name for name in tables},
        bounded=True,
    ).start(availableNow=True)
    query.awaitTermination()
    # The first batch looks up the versions.
    _, batch = [each for each in query.recentProgress if each["numInputRows"]]
    return float(batch["durationMs"]["triggerExecution"]) / 1e3


@cache
def _race_routes(form: Form) -> tuple[Turns, int]:
    world = world_for(form)
    some = world.records // _SHARE
    topics = {
        routes: world.topic(f"routes-{routes}", make_frames(make_named_versions(routes)), some)
        for routes in (1, *_MANY)
    }
    ways = {
        f"routes_{routes}": partial(_run, world, topic, routes, some)
        for routes, topic in topics.items()
    }
    return race(ways, min(form.turns, 2)), some // 2


def _routes(routes: int, form: Form) -> Result:
    turns, records = _race_routes(form)
    chosen = choose(turns, ["routes_1", f"routes_{routes}"])
    figure = ratio(turns, f"routes_{routes}", "routes_1")
    return Result(figure, "times", speeds(chosen, records))


ROUTES: tuple[Rung, ...] = tuple(
    least(
        f"routes-{routes}",
        f"a batch of one topic into {routes} tables by schema name, decoded, against one table",
        0.8,
        partial(_routes, routes),
    )
    for routes in _MANY
)
