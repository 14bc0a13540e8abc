"""Rungs of routes by schema name: a batch into many tables, against the same with one route."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

from bench.ladder import Form, Result, Rung, Turns, choose, least, race, ratio, speeds
from bench.spark.records import make_frames, make_named_versions
from bench.spark.ways import Outlet, Product
from bench.spark.world import World, world_for

_GOALS = {15: 0.85, 50: 0.7}
_SHARE = 8  # of the records


def _open(world: World, routes: int, records: int) -> Callable[[], None]:
    """Return a function that takes a batch whose records go to so many tables."""
    versions = make_named_versions(routes)
    topic = world.topic(f"routes-{routes}", make_frames(versions), records)
    product = Product(world, versions, outlet={each.name: Outlet() for each in versions})

    def take() -> None:
        product.expect(records, world.read(topic))

    return take


@cache
def _race_routes(form: Form) -> tuple[Turns, int]:
    world = world_for(form)
    some = world.records // _SHARE
    ways = {f"routes_{routes}": _open(world, routes, some) for routes in (1, *_GOALS)}
    return race(ways, form.turns, warm={}), some


def _routes(routes: int, form: Form) -> Result:
    turns, records = _race_routes(form)
    chosen = choose(turns, ["routes_1", f"routes_{routes}"])
    figure = ratio(turns, f"routes_{routes}", "routes_1")
    return Result(figure, "times", speeds(chosen, records))


ROUTES: tuple[Rung, ...] = tuple(
    least(
        f"routes-{routes}",
        f"How fast is a batch of one topic into {routes} tables by schema, against one table?",
        times,
        partial(_routes, routes),
    )
    for routes, times in _GOALS.items()
)
