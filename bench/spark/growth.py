"""How the cost of a batch grows with records, versions, partitions and routes."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from typing import Any

from bench.ladder import Form, race
from bench.spark.records import make_frames, make_named_versions, make_versions
from bench.spark.ways import Outlet, Product, QuickRegistry, open_batches
from bench.spark.world import World
from penstock.spark.state.schema_ledger import Lookup, Lookups
from penstock.tables import BatchId

_Way = Callable[[], object]


def measure_costs(world: World, ways: Mapping[int, _Way], form: Form) -> dict[int, float]:
    """Run a batch of each size in turns, and return its CPU time by size."""

    def measure(way: _Way) -> Callable[[], float]:
        def run() -> float:
            started = world.cpu_seconds()
            way()
            return world.cpu_seconds() - started

        return run

    turns = race({str(size): measure(way) for size, way in ways.items()}, form.turns)
    return {size: statistics.median(turns[str(size)]) for size in ways}


def batch_of(world: World, name: str, versions: int) -> _Way:
    """Return a way to process the records of so many versions as one batch."""
    known = make_versions(versions)
    topic = world.topic(name, make_frames(known))
    product = Product(world, known)
    return lambda: product.expect(world.records, world.read(topic))


def routed_batch(world: World, routes: int) -> _Way:
    """Return a way to process the records of as many schemas as one batch, a table for each."""
    versions = make_named_versions(routes)
    topic = world.topic(f"tables-{routes}", make_frames(versions))
    ledger = Lookups()
    ledger.add(Lookup(0, 1, tuple(versions)))
    registry: Any = QuickRegistry(versions)
    batches = open_batches(registry, ledger, {each.name: Outlet() for each in versions})

    def take() -> None:
        found = batches.write_batch(world.read(topic), BatchId("bench", 1)).rows
        assert found == world.records, f"found {found} rows, expected {world.records}"

    return take
