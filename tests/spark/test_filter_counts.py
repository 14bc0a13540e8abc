"""Filters count the rows that pass them, inside the stage that Spark compiles."""

from __future__ import annotations

from collections import Counter

import pytest

from penstock.spark.failures import count_by_reason
from penstock.spark.filter_counts import FilterCounts

pytestmark = pytest.mark.usefixtures("compiled")

_STEPS = {"all": "TRUE", "even": "kind = 'even'", "small": "id < 4"}


@pytest.fixture
def rows(spark):
    return spark.range(10).selectExpr("id", "IF(id % 2 = 0, 'even', 'odd') AS kind")


def _count(rows, run, steps=_STEPS):
    """Run a query over filtered rows; return the counts."""
    counts = FilterCounts(steps)
    with counts.watch(rows):
        run(counts.filter(rows))
        return counts.wait()


def _by_two_queries(rows):
    assert rows.cache().count() == 2
    assert {row.id for row in rows.collect()} == {0, 2}
    rows.unpersist()


def _after_a_look(rows):
    assert not rows.isEmpty()
    assert len(rows.take(1)) == rows.limit(1).count() == 1
    rows.write.format("noop").mode("overwrite").save()


@pytest.mark.parametrize(
    "run",
    [
        _after_a_look,
        lambda rows: rows.write.format("noop").mode("overwrite").save(),
        lambda rows: rows.select("id").filter("id <> 2").collect(),
        lambda rows: rows.groupBy("kind").count().collect(),
        lambda rows: count_by_reason(rows, lambda each: iter([Counter(tests=len(list(each)))])),
        _by_two_queries,
    ],
    ids=["looked at", "written", "filtered again", "shuffled", "as an RDD", "cached"],
)
def test_each_filter_counts_the_rows_that_pass_it(spark, rows, run):
    adaptive = "spark.sql.adaptive.enabled"
    spark.conf.set(adaptive, "true")
    try:
        assert _count(rows, run) == {"all": 10, "even": 5, "small": 2}
    finally:
        spark.conf.set(adaptive, "false")


def test_two_queries_at_once_are_counted_apart(rows):
    counts, others = (FilterCounts(_STEPS) for _ in range(2))
    with counts.watch(rows), others.watch(rows):
        others.filter(rows.filter("id > 0")).collect()
        counts.filter(rows).collect()

        assert others.wait() == {"all": 9, "even": 4, "small": 1}
        assert counts.wait() == {"all": 10, "even": 5, "small": 2}


def test_what_does_not_run_or_fails_has_no_counts(rows, monkeypatch):
    monkeypatch.setattr("penstock.spark.filter_counts._REPORTED_MS", 1)

    assert not _count(rows, lambda filtered: filtered.schema)
    assert not _count(rows, lambda filtered: rows.collect())


def test_the_same_code_serves_every_batch(spark, rows):
    debug = getattr(spark._jvm.org.apache.spark.sql.execution.debug, "package$")

    def generate():
        filtered = FilterCounts(_STEPS).filter(rows)
        plan = filtered._jdf.queryExecution().executedPlan()
        stages = getattr(debug, "MODULE$").codegenStringSeq(plan)
        return [stages.apply(at)._2() for at in range(stages.size())]

    assert len(generate()) == 1
    assert generate() == generate()
