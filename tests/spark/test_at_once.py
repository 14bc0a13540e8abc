"""Sinks of a batch are written to at once; each is awaited, whatever becomes of the others."""

from __future__ import annotations

from functools import partial
from threading import Barrier, Event

import pytest

from penstock.spark.query.concurrently import Lanes, run_concurrently
from penstock.spark.query.parts import count_passes, write_filters

_SECONDS = 120  # for a pass on a machine with much else to do


def test_sinks_are_written_to_at_once_and_each_pass_is_counted(spark):
    """Each of them waits in its write until the other one is there."""
    judged = spark.createDataFrame([("decoded",), ("decoded",), ("tombstone",)], "status string")
    meeting = Barrier(2)

    def write(observed):
        meeting.wait(_SECONDS)
        observed.collect()

    filters = write_filters(is_staged=False, is_routed=False)

    passes = [*count_passes(judged, [write, write], filters)]

    assert [(each["records"], each["rows"], each["tombstones"]) for each in passes] == [
        (3, 2, 1)
    ] * 2


def test_what_runs_at_once_belongs_to_the_same_query_and_session(spark):
    context, session = spark.sparkContext, spark.newSession()
    session.conf.set("penstock.test", "it")
    found = []

    def look():
        active = context._jvm.org.apache.spark.sql.SparkSession.active()
        group = context.getLocalProperty("spark.jobGroup.id")
        found.append((active.conf().get("penstock.test"), group))

    context.setJobGroup("a query", "a batch")
    try:
        run_concurrently(session, [look, look])
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)

    assert found == [("it", "a query")] * 2


@pytest.mark.parametrize("failing", [0, 1])
def test_one_that_fails_leaves_the_other_time_to_end(spark, failing):
    has_failed, over = Event(), []

    def fail():
        has_failed.set()
        raise OSError("no space")

    def end():
        has_failed.wait(_SECONDS)
        over.append("it")

    functions = [end, end]
    functions[failing] = fail
    with pytest.raises(OSError, match=r"^no space$"):
        run_concurrently(spark, functions)

    assert over == ["it"]


def test_the_first_of_two_errors_is_raised_and_the_other_one_logged(spark, caplog):
    second_failed = Event()

    def fail(text, before):
        before()
        raise OSError(text)

    functions = [
        partial(fail, "first", lambda: second_failed.wait(_SECONDS)),
        partial(fail, "second", second_failed.set),
    ]
    with pytest.raises(OSError, match=r"^first$"):
        run_concurrently(spark, functions)

    assert caplog.messages == ["another sink failed too: second"]


def test_tables_are_written_in_lanes_with_sessions_of_their_own(spark):
    """Two of them wait until the other one is there; a table is always in the same lane."""
    rows, lanes = spark.range(3), Lanes()
    meeting = Barrier(2)
    found: list[dict[str, tuple[int, object]]] = []

    def take(tables):
        seen = {}

        def write(name, own):
            meeting.wait(_SECONDS)
            own.sparkSession.conf.set("penstock.test", name)
            meeting.wait(_SECONDS)
            active = spark._jvm.org.apache.spark.sql.SparkSession.active()
            seen[name] = own.count(), own.sparkSession._jsparkSession
            assert own.sparkSession.conf.get("penstock.test") == name
            assert active.conf().get("penstock.test") == name

        lanes.run(rows, {name: partial(write, name) for name in tables})
        found.append(seen)

    take(["a", "b"])
    take(["b", "a"])

    assert [{name: count for name, (count, _) in each.items()} for each in found] == [
        {"a": 3, "b": 3}
    ] * 2
    assert found[0] == found[1]
    assert spark.conf.get("penstock.test", "") == ""


def test_a_table_alone_has_no_lane_until_it_has_had_one(spark):
    rows, lanes = spark.range(3), Lanes()
    sessions = []

    def write(own):
        sessions.append(own.sparkSession._jsparkSession)

    lanes.run(rows, {"a": write})
    lanes.run(rows, {"a": write, "b": lambda _: None})
    lanes.run(rows, {"a": write})

    assert sessions[0] == spark._jsparkSession != sessions[1]
    assert sessions[1] == sessions[2]


def test_more_tables_than_lanes_are_all_written_and_an_error_ends_its_lane_only(
    spark, monkeypatch, caplog
):
    monkeypatch.setattr("penstock.spark.query.concurrently._LANES", 2)
    written = []

    def write(name, _):
        if name == "b":
            raise OSError("no space")
        written.append(name)

    with pytest.raises(OSError, match=r"^no space$"):
        Lanes().run(spark.range(3), {name: partial(write, name) for name in "abcd"})

    assert written == ["a", "c"]
    assert not caplog.messages


def test_a_lane_reads_what_is_kept(spark):
    read = spark.sparkContext.accumulator(0)

    def count(rows):
        for row in rows:
            read.add(1)
            yield row

    kept = spark.createDataFrame(spark.range(4).rdd.mapPartitions(count), "id long").persist()
    try:
        assert kept.count() == 4
        writes = {name: lambda own: own.filter("id > 1").collect() for name in "ab"}
        Lanes().run(kept.filter("id > 0"), writes)
    finally:
        kept.unpersist()

    assert read.value == 4
