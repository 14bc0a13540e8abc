"""Schemas by their names into tables of their own, each record once, whatever comes again."""

from __future__ import annotations

import pytest

from tests.spark.records import frame, make_record
from tests.spark.routed import Job, lake_job
from tests.spark.sinks import FileSink

_SENSOR = make_record(("deviceId", "string"), ("value", ["null", "double"]))
_ORDER = make_record(("deviceId", "string"), ("value", ["null", "string"]), name="Order")
_GROWN = make_record(("deviceId", "string"), ("at", ["null", "long"]), name="Order")


@pytest.fixture(params=["queries", "one job"])
def job(request, spark, tmp_path):
    """A query whose tables are files, each written by a query, or tables of the lake."""
    if request.param == "queries":
        return Job(spark, tmp_path, lambda name: FileSink(tmp_path / name))
    request.getfixturevalue("lake_folder")
    return lake_job(spark, tmp_path)


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
    found = {at: _leave_nulls_out(row) for at, row in job.rows("order").items()}
    assert found == {1: text, 101: text, 103: later}
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


def _leave_nulls_out(row):
    return {name: each for name, each in row.items() if each is not None}
