"""The line of a batch, from what was written and from Spark's progress."""

from __future__ import annotations

import json

from jobs.sales.reports import write_fields, write_line

_PROGRESS = {
    "numInputRows": 9,
    "observedMetrics": {
        "sales": {"sales": 5, "left_out": 2},
        "records": {"decoded": 7, "tombstones": 1, "left_out": 1},
        "clock": {"future": 3},
    },
    "stateOperators": [{"numRowsDroppedByWatermark": 4}, {"numRowsDroppedByWatermark": 0}],
    "eventTime": {"watermark": "2026-11-23T12:00:00.000Z"},
}


def test_what_does_not_count_is_counted():
    assert write_fields(_PROGRESS) == {
        "in": 9,
        "left_out": 3,
        "future": 3,
        "late": 4,
        "watermark": "2026-11-23T12:00:00.000Z",
    }


def test_a_query_without_windows_has_no_watermark():
    assert write_fields({"numInputRows": 1}) == {"in": 1, "left_out": 0, "future": 0, "late": 0}


def test_what_was_written_goes_before_what_spark_counts():
    line = json.loads(write_line(_PROGRESS | {"id": "q", "batchId": 1}, {"in": 8, "out": 5}))

    assert (line["query"], line["batch"], line["in"], line["out"]) == ("q", 1, 8, 5)
