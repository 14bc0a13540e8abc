"""The line of a batch: for people, for programs, and for CloudWatch's metrics."""

from __future__ import annotations

import json

from penstock.errors import LostRecordsError, Reason
from penstock.spark.query.report import BatchCounts, write_failure, write_report
from penstock.spark.state.losses import OffsetRange

_PROGRESS = {
    "id": "6a3c3d3e-0000-4000-8000-000000000000",
    "batchId": 4,
    "durationMs": {"triggerExecution": 2000},
    "sources": [
        {
            "startOffset": {"sensor": {"0": 5}},
            "endOffset": {"sensor": {"0": 9}},
            "metrics": {"maxOffsetsBehindLatest": "12", "minOffsetsBehindLatest": "0"},
        }
    ],
}
_COUNTS = BatchCounts(
    records=4,
    rows=2,
    schemas=3,
    new_schemas=1,
    errors={Reason.UNDECODABLE: 1, Reason.UNKNOWN_SCHEMA: 1},
    lost=(OffsetRange("sensor", 0, 5, 7),),
)


def test_the_line_of_a_batch() -> None:
    line = json.loads(write_report("shop", _PROGRESS, _COUNTS, lambda: 1795248000.25))

    aws = line.pop("_aws")
    assert line == {
        "service": "shop",
        "query": "6a3c3d3e-0000-4000-8000-000000000000",
        "batch": 4,
        "offsets": [{"start": {"sensor": {"0": 5}}, "end": {"sensor": {"0": 9}}}],
        "rows_per_second": 1.0,
        "schemas": 3,
        "errors": {"undecodable": 1, "unknown-schema": 1},
        "lost": ["sensor/0 5 to 6"],
        "Records": 4,
        "Rows": 2,
        "PermanentErrors": 2,
        "LostRecords": 2,
        "NewSchemas": 1,
        "RecordsBehind": 12,
        "BatchDuration": 2000,
    }
    (metrics,) = aws["CloudWatchMetrics"]
    assert aws["Timestamp"] == 1795248000250
    assert (metrics["Namespace"], metrics["Dimensions"]) == ("Penstock", [["service"]])
    assert {each["Name"] for each in metrics["Metrics"]} <= line.keys()
    assert {"Name": "RecordsBehind", "Unit": "Count"} in metrics["Metrics"]


def test_a_batch_that_failed_is_a_metric() -> None:
    line = json.loads(write_failure("shop", 7, LostRecordsError("2 are gone"), lambda: 1.5))

    (metrics,) = line.pop("_aws")["CloudWatchMetrics"]
    assert line == {"service": "shop", "batch": 7, "kind": "LostRecordsError", "BatchesFailed": 1}
    assert metrics == {
        "Namespace": "Penstock",
        "Dimensions": [["service"]],
        "Metrics": [{"Name": "BatchesFailed", "Unit": "Count"}],
    }


def test_missing_figures_are_left_out() -> None:
    progress = _PROGRESS | {"durationMs": {}, "sources": [{"metrics": None}]}

    line = json.loads(write_report("shop", progress, _COUNTS))

    assert line["rows_per_second"] is None
    assert "RecordsBehind" not in line
    assert "RecordsBehind" not in json.dumps(line["_aws"])
