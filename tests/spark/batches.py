"""A query whose batches tests take one by one, and that can be started again."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.registry import CachedRegistry, Registries
from penstock.spark.query.batch import Batches
from penstock.spark.query.parts import BatchContext
from penstock.spark.sinks.table import Route, Table, group_tables
from penstock.spark.state.schema_ledger import Ledger
from penstock.tables import BatchId
from tests.spark.records import make_topic
from tests.spark.sinks import FileErrors, FileSink
from tests.stubs.registries import CountedRegistry


def open_batches(  # noqa: PLR0913 - what a query has
    registries, ledger, sinks, errors, columns=None, *, bounded=False
):
    """Open the batches of a table with these sinks, or of tables with sinks by schema name.

    Frames of batches that are bounded are kept for the tables by schema name.
    """
    by_name = sinks if isinstance(sinks, Mapping) else {None: sinks}
    tables = [
        Table(tuple(each), Route(schema=name), name or "", columns)
        for name, each in by_name.items()
    ]
    (group,) = group_tables(tables)
    return Batches(group, ledger, BatchContext(registries, errors, bounded=bounded))


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
