"""What is not tried any more is an object a record, and one notice tells of all of them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from unittest.mock import Mock

from penstock.sinks import DeadLetter, ParkedRecords


def _record(offset: int, **changes: Any) -> DeadLetter:
    row = {
        "id": f"sensor/3/{offset}/7", "kafkaTimestamp": 7, "reason": "truncated",
        "detail": "ends", "schemaId": "v1", "firstSeen": 7, "attempts": 3, "stage": "spark",
    }  # fmt: skip
    return DeadLetter.describe(row | changes, None, b"\0\xff", (("h", b""), ("none", None)))


def _build() -> tuple[ParkedRecords, Mock]:
    parking = Mock()
    parking.put.side_effect = lambda name, _: f"s3://parked/{name}"
    parking.put_each.side_effect = lambda objects: [parking.put(*each) for each in objects]
    return ParkedRecords(parking), parking.put


def test_a_record_is_a_line_of_json_under_its_own_name() -> None:
    parked, put = _build()

    assert parked.park([_record(5)], "r-0") == ["s3://parked/records/sensor/3/5/7.json"]

    (name, content), _ = put.call_args_list[0]
    assert name == "records/sensor/3/5/7.json"
    assert content.endswith(b"}\n")
    assert json.loads(content) == {
        "id": "sensor/3/5/7", "topic": "sensor", "kafka_partition": 3, "kafka_offset": 5,
        "kafka_timestamp": 7, "reason": "truncated", "detail": "ends", "schema_id": "v1",
        "key": None, "value": "AP8=",
        "headers": [{"name": "h", "value": ""}, {"name": "none", "value": None}],
        "first_seen": 7, "attempts": 3, "stage": "spark", "driver": None, "waiting_for": [],
    }  # fmt: skip


def test_the_table_of_athena_has_the_columns_of_a_record() -> None:
    parked, put = _build()
    parked.park([_record(5)], "r-0")
    (_, content), _ = put.call_args_list[0]

    table = Path(__file__).parents[3].joinpath("infra/modules/lake/parked.tf").read_text()

    # What both tables have, then the table of the log, then that of parked records.
    names = re.findall(r'{ name = "(\w+)", type', table)
    assert [name for name in names if name != "error_table"] == list(json.loads(content))
    assert names.index("error_table") == len(names) - 5


def test_a_notice_after_the_records_counts_and_names_them() -> None:
    parked, put = _build()

    places = parked.park([_record(1), _record(2, reason="oversize"), _record(3)], "r-0")

    (name, content), _ = put.call_args
    assert (put.call_count, name) == (4, "notices/3-records-of-r-0.json")
    assert json.loads(content) == {
        "parked": 3, "reasons": {"truncated": 2, "oversize": 1}, "records": places,
    }  # fmt: skip


def test_no_notice_is_written_without_records() -> None:
    parked, put = _build()

    assert parked.park([], "r-0") == []
    assert put.call_count == 0
