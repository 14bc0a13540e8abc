"""Several tables of the lake, whose rows one job writes, but for those that need a query."""

from __future__ import annotations

from contextlib import contextmanager
from unittest.mock import ANY

import pytest

from penstock.spark.decoding import keeper
from penstock.spark.lake.iceberg import IcebergTable
from penstock.spark.query import append_batches
from penstock.spark.sinks import iceberg
from penstock.tables import BatchId
from tests.spark.records import frame, make_record, make_topic
from tests.spark.routed import DyingLake, lake_job

_SENSOR = make_record(("deviceId", "string"), ("value", ["null", "long"]))
_ORDER = make_record(("deviceId", "string"), ("value", ["null", "string"]), name="Order")
_GROWN = make_record(("deviceId", "string"), ("at", ["null", "long"]), name="Order")


@pytest.fixture
def job(spark, lake_folder, tmp_path):
    return lake_job(spark, tmp_path)


@pytest.fixture
def values(job):
    """A record of each schema."""
    sensor, order = job.register("sensor", _SENSOR), job.register("order", _ORDER)
    rows = [{"deviceId": "a", "value": 2**53 + 1}, {"deviceId": "b", "value": "x"}]
    return [frame(sensor, rows[0]), frame(order, rows[1])]


def _write(job, batches, values, number):
    records = make_topic(job.spark, values, first=100 * number)
    return batches.write_batch(records, BatchId("query", number))


def _count_queries(job, monkeypatch):
    """Collect the tables whose rows are written by a query of their own."""
    written = []
    write = DyingLake.write

    def write_and_note(sink, *given):
        written.append(next(name for name, each in job.sinks.items() if each is sink))
        return write(sink, *given)

    monkeypatch.setattr(DyingLake, "write", write_and_note)
    return written


def test_a_batch_is_read_once_by_one_job(job, values, monkeypatch):
    batches = job.open()
    _write(job, batches, values, 0)
    queries = _count_queries(job, monkeypatch)
    reads = job.spark.sparkContext.accumulator(0)
    fresh = make_topic(job.spark, values * 3, first=100)
    counted = fresh.rdd.map(lambda row: (reads.add(1), row)[1])
    context = job.spark.sparkContext
    context.setJobGroup(job.folder.name, "a batch")

    counts = batches.write_batch(
        job.spark.createDataFrame(counted, fresh.schema), BatchId("query", 1)
    )

    context.setLocalProperty("spark.jobGroup.id", None)
    assert len(context.statusTracker().getJobIdsForGroup(job.folder.name)) == 1
    assert (counts.records, counts.rows, reads.value, queries) == (6, 6, 6, [])
    assert set(job.rows("sensor")) == {0, 100, 102, 104}
    assert set(job.rows("order")) == {1, 101, 103, 105}


def test_a_table_without_rows_gets_a_marker_twice_a_day(job, values):
    batches = job.open()
    for number, some in enumerate((values, values[:1], values[:1], values)):
        _write(job, batches, some, number)

    table = job.spark.sql(f"SELECT summary FROM {job.sinks['order']._name}.snapshots")
    marked = [row["summary"]["penstock.batch"] for row in table.collect()]
    assert marked == ["0", "1", "3"]
    assert set(job.rows("order")) == {1, 301}


@pytest.mark.parametrize("name", ["_MOST_OF_TASK", "_MOST"])
def test_records_that_no_memory_holds_are_read_again(job, values, monkeypatch, name):
    monkeypatch.setattr(keeper, name, 1)
    batches = job.open()
    first = _write(job, batches, [*values, values[0][:-1], b"?", None], 0)
    grown = frame(job.register("order", _GROWN), {"deviceId": "c", "at": 7})
    second = _write(job, batches, [*values, grown, values[0][:-1]], 1)

    assert (first.records, first.rows, first.tombstones) == (5, 2, 1)
    assert (second.records, second.rows, second.errors) == (4, 3, {"truncated": 1})
    assert set(job.rows("order")) == {1, 101, 102}
    assert job.errors.reasons() == {2: "truncated", 3: "unknown-framing", 103: "truncated"}


def test_many_bad_records_are_named_by_executors(job, values, monkeypatch):
    monkeypatch.setattr(append_batches, "FEW_BAD", 0)
    counts = _write(job, job.open(), [*values, values[1][:-1]], 0)

    assert counts.errors == {"truncated": 1}
    assert job.errors.reasons() == {2: "truncated"}


@pytest.mark.parametrize("is_column", [True, False])
def test_a_change_of_a_table_by_others_takes_a_query_once(job, values, monkeypatch, is_column):
    batches = job.open()
    _write(job, batches, values, 0)
    queries = _count_queries(job, monkeypatch)
    table = job.sinks["order"]._name
    if is_column:
        job.spark.sql(f"ALTER TABLE {table} ADD COLUMN more INT")
    else:
        IcebergTable(job.spark, table)._table.updateSpec().addField("deviceId").commit()

    _write(job, batches, values, 1)
    assert queries == ["order"]
    _write(job, batches, values, 2)
    assert queries == ["order"]
    more = {"more": None} if is_column else {}
    assert job.rows("order")[101] == {"deviceId": "b", "value": "x"} | more
    assert set(job.rows("order")) == {1, 101, 201}
    specs = job.spark.table(f"{table}.files").select("spec_id").distinct().collect()
    assert len(specs) == (1 if is_column else 2)


def test_rows_that_a_table_wants_in_an_order_take_a_query(job, values, monkeypatch):
    _write(job, job.open(), values, 0)
    table = IcebergTable(job.spark, job.sinks["order"]._name)
    table.set_properties({"write.distribution-mode": "hash"})
    queries = _count_queries(job, monkeypatch)

    _write(job, job.open(), values, 1)

    assert queries == ["order"]
    assert set(job.rows("order")) == {1, 101}


def test_queries_of_tables_do_not_take_the_id_of_an_append_from_each_other(
    job, values, monkeypatch
):
    """Without its id an append is not staged: it is there before the fence is checked."""
    _write(job, job.open(), values, 0)
    for each in job.sinks.values():
        IcebergTable(job.spark, each._name).set_properties({"write.distribution-mode": "hash"})
    open_id, inside, most = iceberg._wap_id, [], []

    @contextmanager
    def note(session, wap_id):
        with open_id(session, wap_id):
            inside.append(wap_id)
            most.append(len(inside))
            yield
            inside.remove(wap_id)

    monkeypatch.setattr(iceberg, "_wap_id", note)
    queries = _count_queries(job, monkeypatch)

    _write(job, job.open(), values, 1)

    assert (sorted(queries), most) == (["order", "sensor"], [1, 1])
    for each in job.sinks.values():
        found = job.spark.sql(f"SELECT summary FROM {each._name}.snapshots").collect()
        assert all("wap.id" in row["summary"] for row in found)


def test_rows_that_a_column_would_round_are_dead_letters_of_a_query(job, values, monkeypatch):
    batches = job.open()
    _write(job, batches, values, 0)
    queries = _count_queries(job, monkeypatch)
    widened = make_record(("deviceId", "string"), ("value", ["null", "double"]))
    (job.folder / "other").mkdir()
    other = lake_job(job.spark, job.folder / "other")
    other.sinks = job.sinks
    number = frame(other.register("sensor", widened), {"deviceId": "a", "value": 0.5})
    other.open().write_batch(make_topic(job.spark, [number], first=900), BatchId("other", 0))
    queries.clear()

    counts = _write(job, batches, values, 1)

    assert queries == ["sensor"]
    assert (counts.rows, counts.errors) == (2, {"lossy-widening": 1})
    assert job.errors.reasons() == {100: "lossy-widening"}
    assert set(job.rows("order")) == {1, 101}
    assert job.rows("sensor") == {0: ANY, 900: {"deviceId": "a", "value": 0.5}}
