"""The plans that Spark keeps and logs do not grow with the number of schema versions."""

from __future__ import annotations

import json

import pytest

from penstock.spark.decoding.decoder import Decoder
from penstock.spark.decoding.frames import split_frames
from penstock.tables import COORDINATES
from tests.spark.records import GLUE, frame, make_record, make_topic, make_version

_MOST_BYTES = 16_384


@pytest.fixture(scope="module")
def events(spark):
    """The lines that Spark would write to its event log for a query of 200 versions."""
    shared = [(f"s{at}", "string") for at in range(20)]
    versions = [
        make_version(number, make_record(*shared, (f"x{number % 50}", ["null", "long"])))
        for number in range(200)
    ]
    value = frame(versions[0], {**{f"s{at}": "a" for at in range(20)}, "x0": 7})
    decoder = Decoder(spark, versions)
    frames = split_frames(make_topic(spark, [value]), GLUE)
    rows = decoder.select(decoder.decode(frames)).select("event.*", *COORDINATES)
    assert rows.collect()[0].x0 == 7
    return rows


def _describe(spark, rows):
    """Return the plan of an execution as text, and as the description that the event log has."""
    query = rows._jdf.queryExecution()
    formatted = getattr(spark._jvm, "org.apache.spark.sql.execution.ExplainMode").fromString(
        "formatted"
    )
    plan = getattr(spark._jvm, "org.apache.spark.sql.execution.SparkPlanInfo")
    return query.explainString(formatted), json.dumps(
        _nodes(plan.fromSparkPlan(query.executedPlan()))
    )


def _nodes(info):
    inside = info.children()
    nodes = [_nodes(inside.apply(at)) for at in range(inside.size())]
    return {"name": info.nodeName(), "text": info.simpleString(), "inside": nodes}


def test_the_plan_of_200_versions_is_described_in_16_kb(spark, events):
    text, description = _describe(spark, events)

    assert "Project" in text
    assert "Project" in description
    assert len(text) + len(description) < _MOST_BYTES
