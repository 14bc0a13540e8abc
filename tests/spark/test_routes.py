"""Schemas by their names into tables of their own, each record once, whatever comes again."""

from __future__ import annotations

import pytest

from penstock.registry import CachedRegistry, Registries
from penstock.spark.query.parts import PartWriter
from penstock.spark.state.schema_ledger import Ledger
from penstock.tables import BatchId
from tests.spark.batches import open_batches
from tests.spark.records import frame, make_record, make_topic
from tests.spark.sinks import FileErrors, FileSink
from tests.stubs.registries import CountedRegistry

_SENSOR = make_record(("deviceId", "string"), ("value", ["null", "double"]))
_ORDER = make_record(("deviceId", "string"), ("value", ["null", "string"]), name="Order")
_GROWN = make_record(("deviceId", "string"), ("at", ["null", "long"]), name="Order")


class Job:
    """A query with a table for each schema, which can be started again on what it left behind."""

    def __init__(self, spark, folder, *, bounded):
        self.spark, self.folder, self.bounded = spark, folder, bounded
        self.registry = CountedRegistry()
        for name in ("sensor", "order", "errors"):
            (folder / name).mkdir()
        self.errors = FileErrors(folder / "errors")
        self.sinks = {name: FileSink(folder / name) for name in ("sensor", "order")}

    def register(self, name, schema):
        return self.registry.register(name, schema).version

    def open(self, sinks=None):
        """Start with what is on disk, and what the registry says."""
        routes = {name: [sink] for name, sink in (sinks or self.sinks).items()}
        ledger = Ledger(self.spark, str(self.folder / "schemas"))
        registries = Registries([CachedRegistry(self.registry)])
        return open_batches(registries, ledger, routes, self.errors, bounded=self.bounded)

    def take(self, values, number, sinks=None):
        """Take a batch as after a start."""
        records = make_topic(self.spark, values, first=100 * number)
        return self.open(sinks).write_batch(records, BatchId("query", number))

    def rows(self, name):
        return self.sinks[name].rows(self.spark)


@pytest.fixture(params=[True, False], ids=["kept", "unbounded"])
def job(request, spark, tmp_path):
    return Job(spark, tmp_path, bounded=request.param)


def test_each_schema_has_its_own_table_and_a_name_without_one_is_filed(job):
    sensor, order = job.register("sensor", _SENSOR), job.register("order", _ORDER)
    stray = job.register("stray", _SENSOR)
    hot, text = {"deviceId": "a", "value": 1.5}, {"deviceId": "b", "value": "x" * 99}
    first = job.take([frame(sensor, hot), frame(order, text), frame(stray, hot), b"?"], 0)
    grown = job.register("order", _GROWN)
    later = {"deviceId": "c", "at": 7}
    values = [
        frame(sensor, hot, compress=True), frame(order, text, compress=True), None,
        frame(grown, later), frame(stray, hot, compress=True), frame(order, text)[:-1],
    ]  # fmt: skip
    job.sinks["order"].fails = lambda place: place == "before 0"
    with pytest.raises(OSError, match="dead before 0"):
        job.take(values, 1)
    job.sinks["order"].fails = lambda place: place == "after 1"
    with pytest.raises(OSError, match="dead after 1"):
        job.take(values, 1)
    job.sinks["order"].fails = lambda _: False
    second = job.take(values, 1)

    assert job.rows("sensor") == {0: hot, 100: hot}
    assert job.rows("order") == {1: text, 101: text, 103: {"value": None} | later}
    assert job.errors.reasons() == {
        2: "unroutable", 3: "unknown-framing", 104: "unroutable", 105: "truncated",
    }  # fmt: skip
    assert (first.records, first.rows, first.schemas) == (4, 2, 2)
    assert (second.records, second.rows, second.errors) == (6, 3, {"unroutable": 1, "truncated": 1})


def test_a_route_that_is_taken_away_leaves_errors_and_no_rows(job):
    sensor, order = job.register("sensor", _SENSOR), job.register("order", _ORDER)
    rows = [{"deviceId": "a", "value": 1.5}, {"deviceId": "b", "value": "x"}]
    values = [frame(sensor, rows[0]), frame(order, rows[1])]
    job.take(values, 0)

    counts = job.take(values, 1, {"sensor": job.sinks["sensor"]})

    assert set(job.rows("order")) == {1}
    assert set(job.rows("sensor")) == {0, 100}
    assert (counts.records, counts.rows, counts.errors) == (2, 1, {"unroutable": 1})
    assert (
        job.errors.read()[101]["detail"] == "found a record of schema order, expected one of sensor"
    )


def test_a_kept_batch_is_read_once_and_a_table_without_records_runs_nothing(
    spark, tmp_path, monkeypatch
):
    job = Job(spark, tmp_path, bounded=True)
    sensor, order = job.register("sensor", _SENSOR), job.register("order", _ORDER)
    rows = [{"deviceId": "a", "value": 1.5}, {"deviceId": "b", "value": "x"}]
    values = [frame(sensor, rows[0]), frame(order, rows[1])]
    batches = job.open()
    for number, some in enumerate((values, values, values[:1])):  # learned, known, and marked
        batches.write_batch(make_topic(spark, some, first=2 * number), BatchId("query", number))
    reads = spark.sparkContext.accumulator(0)
    fresh = make_topic(spark, values[:1] * 3, first=10)
    counted = spark.createDataFrame(fresh.rdd.map(lambda row: (reads.add(1), row)[1]), fresh.schema)
    written = []
    write = PartWriter.write
    monkeypatch.setattr(
        PartWriter, "write", lambda self, *given: (written.append(self), write(self, *given))[1]
    )

    counts = batches.write_batch(counted, BatchId("query", 3))

    assert (counts.records, counts.rows, reads.value, len(written)) == (3, 3, 3, 1)
    assert set(job.rows("sensor")) == {0, 2, 4, 10, 11, 12}
