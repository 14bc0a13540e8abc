"""A query whose batches tests take one by one, and that can be started again."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.registry import CachedRegistry, Registries
from penstock.spark.query.parts import BatchContext
from penstock.spark.query.table_batches import TableBatches
from penstock.spark.sinks.table import Route, Table
from penstock.spark.state.schema_ledger import Ledger
from penstock.tables import BatchId
from tests.spark.records import make_topic
from tests.spark.sinks import FileErrors, FileSink
from tests.stubs.registries import CountedRegistry


def open_batches(registries, ledger, sinks, errors, columns=None):
    """Open the batches of a table with these sinks, or of tables with sinks by schema name."""
    by_name = sinks if isinstance(sinks, Mapping) else {None: sinks}
    tables = [
        Table(tuple(each), Route(schema=name), name or "", columns)
        for name, each in by_name.items()
    ]
    return TableBatches(tables, lambda _: ledger, BatchContext(registries, errors))


class Job:
    """A query that can be started again on what it left behind."""

    def __init__(self, spark, folder):
        self.spark, self.folder = spark, folder
        self.registry = CountedRegistry()
        for name in ("rows", "errors"):
            (folder / name).mkdir()
        self.sink, self.errors = FileSink(folder / "rows"), FileErrors(folder / "errors")
        self.restart()

    def restart(self, sinks=None):
        """Begin again with nothing but what is on disk, and what the registry says now."""
        self.batches = open_batches(
            Registries([CachedRegistry(self.registry)]),
            Ledger(self.spark, str(self.folder / "schemas")),
            sinks or [self.sink],
            self.errors,
        )

    def register(self, schema):
        """Register a version, as a producer does."""
        return self.registry.register("sensor", schema).version

    def take(self, values, number=0):
        """Take a batch; a record's offset is its place in it, with the batch's number before."""
        records = make_topic(self.spark, values, first=100 * number)
        return self.batches.write_batch(records, BatchId("query", number))

    def rows(self):
        return self.sink.rows(self.spark)
