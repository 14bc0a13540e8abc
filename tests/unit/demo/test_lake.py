"""The demo's check of the lake goes red for a row that is missing, altered, doubled or foreign."""

from __future__ import annotations

from decimal import Decimal

import pytest

from demo.lake import find_wrong_lake_rows, read_lake, run_jobs
from demo.rows import Sent
from demo.screen import StepFailedError

_KNOWN = ["sensor/0/0", "sensor/0/1", "sensor/0/2"]


def sent(offset, version, event):
    """An event that was written under a version."""
    schema = {"name": "sensor", "version": version, "id": "x", "created": False}
    return Sent(event, {"topic": "sensor", "partition": 0, "offset": offset, "schema": schema})


def row(offset, version, **values):
    """A row as Athena returns it: every value is text."""
    empty = dict.fromkeys(("temperature", "latitude", "longitude"))
    place = {"_topic": "sensor", "_kafka_partition": "0", "_offset": str(offset)}
    return {**place, **empty, "_schema_version": str(version), **values}


SENT = [
    sent(1, 2, {"temperature": Decimal("30.5")}),
    sent(2, 3, {"location": {"latitude": Decimal("52.52"), "longitude": Decimal("13.405")}}),
]
OLD = row(0, 1)
WARM, PLACED = row(1, 2, temperature="30.5"), row(2, 3, latitude="52.52", longitude="13.405")


def test_rows_that_are_as_they_were_sent_are_right():
    assert find_wrong_lake_rows(SENT, _KNOWN, [OLD, WARM, PLACED]) == []


@pytest.mark.parametrize(
    ("lake", "problem"),
    [
        ([WARM, PLACED], "sensor/0/0: not in the lake"),
        ([OLD, WARM], "sensor/0/2: not in the lake"),
        ([OLD, WARM, PLACED, WARM], "sensor/0/1: 2 times in the lake"),
        ([OLD, WARM, PLACED, row(3, 1)], "sensor/0/3: in the lake only"),
        ([OLD, WARM | {"temperature": "30"}, PLACED], "sensor/0/1: {'temperature': '30', "),
        ([OLD, WARM, PLACED | {"_schema_version": "2"}], "sensor/0/2: {'temperature': None, "),
        ([OLD, WARM, PLACED | {"latitude": None}], "sensor/0/2: {'temperature': None, "),
    ],
    ids=["old one missing", "missing", "doubled", "foreign", "altered", "other version", "empty"],
)
def test_a_wrong_row_is_named(lake, problem):
    wrong = find_wrong_lake_rows(SENT, _KNOWN, lake)
    assert any(line.startswith(problem) for line in wrong), wrong


class Aws:
    """An account whose queries end as the test sets."""

    where = "consumer account 222222222222"

    def __init__(self, **status):
        self._status = status

    def client(self, service):
        return self

    def start_query_execution(self, **asked):
        return {"QueryExecutionId": "q"}

    def get_query_execution(self, **asked):
        return {"QueryExecution": {"Status": self._status}}


def test_a_job_that_is_not_accepted_is_reported_with_its_name():
    consumed = {"submit_commands": {"consume": "echo"}}
    with pytest.raises(StepFailedError, match=r"222222222222, job consume: found 'echo', expected"):
        run_jobs(Aws(), consumed, ["consume"], 1)


def test_a_failed_query_is_reported_with_its_work_group():
    place = {"database": "d", "workgroup": "w"}
    with pytest.raises(StepFailedError, match="222222222222, Athena of w: FAILED no such column"):
        read_lake(Aws(State="FAILED", StateChangeReason="no such column"), place)
