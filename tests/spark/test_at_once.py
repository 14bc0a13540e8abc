"""Sinks of a batch are written to at once; each is awaited, whatever becomes of the others."""

from __future__ import annotations

from functools import partial
from threading import Barrier, Event

import pytest

from penstock.spark.query.concurrently import run_concurrently
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
