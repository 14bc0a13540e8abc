"""The event of a Kafka mapping becomes records, whatever partitions and gaps it has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from penstock.consuming import answer_mapping, read_records
from penstock.errors import EventTextError
from penstock.records import MAX_TIMESTAMP_MS, Record, Source

_EVENTS = Path(__file__).parents[3] / "lambdas/consumer/events"


def _event(*records: dict[str, Any]) -> dict[str, Any]:
    return {"eventSource": "SelfManagedKafka", "records": {"sensor-0": list(records)}}


def _record(**changes: Any) -> dict[str, Any]:
    return {"topic": "sensor", "partition": 0, "offset": 5, "value": "dg=="} | changes


def test_a_whole_event_is_read() -> None:
    (record,) = read_records(json.loads((_EVENTS / "poison.json").read_text()))

    assert record == Record(
        Source("sensor", 0, 15), b"000001", b"not framed", (("trace", b"ab\xff"),), 1795234015788
    )


def test_records_of_all_partitions_are_read_in_order() -> None:
    partitions = {
        f"sensor-{partition}": [
            _record(partition=partition, offset=offset) for offset in range(partition, 3)
        ]
        for partition in range(3)
    }

    read = read_records({"records": partitions})

    assert [str(record.source) for record in read] == [
        *("sensor/0/0", "sensor/0/1", "sensor/0/2", "sensor/1/1", "sensor/1/2", "sensor/2/2"),
    ]


@pytest.mark.parametrize(
    "record", [_record(value=None), {"topic": "t", "partition": 0, "offset": 1}]
)
def test_a_tombstone_has_no_value(record: dict[str, Any]) -> None:
    (read,) = read_records(_event(record))

    assert read.value is None
    assert read.key is None


def test_a_timestamp_of_another_type_is_ignored() -> None:
    (read,) = read_records(_event(_record(timestamp="noon")))

    assert (read.timestamp_ms, read.value) == (0, b"v")


@pytest.mark.parametrize("timestamp", [2**63 - 1, MAX_TIMESTAMP_MS + 1])
def test_a_timestamp_beyond_those_of_spark_is_its_last_one(timestamp: int) -> None:
    (read,) = read_records(_event(_record(timestamp=timestamp)))

    assert read.timestamp_ms == MAX_TIMESTAMP_MS


def test_signed_bytes_and_repeated_headers_are_read() -> None:
    headers = [{"a": [-1, 0]}, {"a": [127]}, {"b": []}, {"null": None}]

    (read,) = read_records(_event(_record(headers=headers)))

    assert read.headers == (("a", b"\xff\x00"), ("a", b"\x7f"), ("b", b""), ("null", None))


@pytest.mark.parametrize(
    "change",
    [
        *({"value": "no base64!"}, {"value": 5}, {"key": "\xe9"}),
        *({"headers": [{"h": "text"}]}, {"headers": ["h"]}, {"headers": 1}),
    ],
    ids=repr,
)
def test_an_entry_that_cannot_be_read_is_a_record_with_its_json(change: dict[str, Any]) -> None:
    entry = _record(**change)

    odd, good = read_records(_event(entry, _record(offset=6)))

    assert (odd.source, odd.key, json.loads(odd.value or b"")) == (
        Source("sensor", 0, 5),
        None,
        entry,
    )
    assert good.value == b"v"


def test_a_batch_may_be_empty() -> None:
    assert read_records({"records": {}}) == []


@pytest.mark.parametrize(
    "event",
    [
        *([], "text", None, {}, {"records": []}, {"records": {"a-0": [{}]}}),
        *({"records": {"a-0": None}}, {"records": {"a-0": "text"}}, {"records": {"a-0": [None]}}),
        *(
            _event(_record(offset="5")),
            _event(_record(topic=None)),
            _event(_record(partition=True)),
        ),
    ],
    ids=repr,
)
def test_an_event_of_another_kind_is_rejected(event: Any) -> None:
    with pytest.raises(EventTextError, match=r"^found an event that cannot be read \(.*\), expec"):
        read_records(event)


def test_an_event_of_kinesis_is_rejected_by_its_name() -> None:
    kinesis = {"data": "AwA=", "partitionKey": "1", "sequenceNumber": "49"}
    event = {"Records": [{"eventSource": "aws:kinesis", "kinesis": kinesis}]}

    with pytest.raises(EventTextError, match=r"^found an event of aws:kinesis, expected one of "):
        read_records(event)


def test_a_record_keeps_data_out_of_its_repr() -> None:
    assert "secret" not in repr(
        Record(Source("t", 0, 1), b"secret", b"secret", (("h", b"secret"),))
    )


def test_a_response_names_the_first_held_offset_of_each_partition() -> None:
    assert answer_mapping([]) == {"batchItemFailures": []}
    assert answer_mapping([Source("a-b", 1, 5), Source("c", 0, 0)]) == {
        "batchItemFailures": [
            {"itemIdentifier": {"partition": "a-b-1", "offset": 5}},
            {"itemIdentifier": {"partition": "c-0", "offset": 0}},
        ]
    }
