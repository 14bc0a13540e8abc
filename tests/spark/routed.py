"""A query with a table for each schema; tables of the lake whose driver dies when told to."""

from __future__ import annotations

import secrets

from penstock.registry import CachedRegistry, Registries
from penstock.spark.sinks.iceberg import Lake
from penstock.spark.state.schema_ledger import Ledger
from penstock.tables import BatchId
from tests.spark.batches import open_batches
from tests.spark.records import make_topic
from tests.spark.sinks import FileErrors
from tests.stubs.registries import CountedRegistry


class Job:
    """A query with a table for each schema, which can be started again on what it left behind."""

    def __init__(self, spark, folder, make_sink):
        self.spark, self.folder = spark, folder
        self.registry = CountedRegistry()
        for name in ("sensor", "order", "errors"):
            (folder / name).mkdir()
        self.errors = FileErrors(folder / "errors")
        self.sinks = {name: make_sink(name) for name in ("sensor", "order")}

    def register(self, name, schema):
        return self.registry.register(name, schema).version

    def open(self, sinks=None):
        """Start with what is on disk, and what the registry says."""
        routes = {name: [sink] for name, sink in (sinks or self.sinks).items()}
        ledger = Ledger(self.spark, str(self.folder / "schemas"))
        registries = Registries([CachedRegistry(self.registry)])
        return open_batches(registries, ledger, routes, self.errors)

    def take(self, values, number, sinks=None):
        """Take a batch as after a start."""
        records = make_topic(self.spark, values, first=100 * number)
        return self.open(sinks).write_batch(records, BatchId("query", number))

    def rows(self, name):
        return self.sinks[name].rows(self.spark)


class DyingLake(Lake):
    """A table of the lake; the driver dies before or after it has what it is told."""

    fails = staticmethod(lambda _: False)

    def append(self, plan, part, messages):
        for when in ("before", "after"):
            if when == "after":
                done = super().append(plan, part, messages)
            if self.fails(f"{when} {part.number}"):
                raise OSError(f"dead {when} {part.number}")
        return done

    def rows(self, _):
        """All rows, by their offsets; a record that is there twice fails."""
        found = {}
        for row in self.read().collect():
            assert row["_offset"] not in found
            own = row.asDict(recursive=True).items()
            found[row["_offset"]] = {name: v for name, v in own if not name.startswith("_")}
        return found


def lake_job(spark, folder):
    """A query into two tables of the lake."""
    database = f"routes_{secrets.token_hex(4)}"
    errors = FileErrors(folder / "errors")
    return Job(spark, folder, lambda name: DyingLake(spark, f"{database}.{name}", errors=errors))
