"""A row follows from its record alone, and no field of an event is lost in it."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.errors import Reason, UnroutableError
from penstock.records import Record, RowShape, Source, make_row

_READING = RowShape()
_SOURCE = Source("sensor", 3, 41)
_RECORD = Record(_SOURCE, None, None)
_BASE = {"deviceId": "d-1", "timestamp": 1795234015788}
_OURS = {
    "readingId": "1795234015788-sensor-3-41",
    "_topic": "sensor",
    "_source": "sensor/3/41",
    "_schema": 2,
    "_schemaId": "an-id",
}


def test_a_reading_has_the_event_and_its_source() -> None:
    event = {**_BASE, "temperature": 30, "o": {"readingId": 1}}

    assert make_row(_READING, event, _RECORD, 2, "an-id") == {**event, **_OURS}


@pytest.mark.parametrize(
    "name", ["readingId", "_topic", "_source", "_schema", "_schemaId", "_expiresAt"]
)
def test_a_field_named_like_an_attribute_of_the_row_is_kept(name: str) -> None:
    row = make_row(_READING, {**_BASE, name: "theirs"}, _RECORD, 2, "an-id")

    assert row == {**_BASE, **_OURS, "_event": {name: "theirs"}}


def test_a_field_named_event_is_kept() -> None:
    row = make_row(_READING, {**_BASE, "_event": 1, "_schema": None}, _RECORD, 2, "an-id")

    assert row["_event"] == {"_event": 1, "_schema": None}


def test_readings_of_a_device_are_sorted_by_time() -> None:
    times = [0, 999, 1_795_234_015_788, 9_999_999_999_999]
    ids = [
        make_row(_READING, {"deviceId": "d", "timestamp": time}, _RECORD, 1, "i")["readingId"]
        for time in times
    ]

    assert ids == sorted(ids)
    assert ids[0] == "0000000000000-sensor-3-41"


def test_without_an_event_time_a_record_of_a_recreated_topic_is_another_row() -> None:
    shape = RowShape(event_time=None)
    times = [-1, 0, 1_795_234_015_788, 1_795_234_015_789]
    ids = [
        make_row(shape, _BASE, Record(_SOURCE, None, None, (), time), 1, "i")["readingId"]
        for time in times
    ]

    assert ids == [
        "-000000000001-sensor-3-41",
        "0000000000000-sensor-3-41",
        "1795234015788-sensor-3-41",
        "1795234015789-sensor-3-41",
    ]


def test_records_of_two_topics_never_share_a_row() -> None:
    sources = [
        Source(topic, partition, offset)
        for topic in ("a", "a-1", "a-1-1", "b")
        for partition in (0, 1, 11)
        for offset in (1, 11)
    ]
    ids = {
        make_row(_READING, _BASE, Record(source, None, None), 1, "i")["readingId"]
        for source in sources
    }

    assert len(ids) == len(sources)


@pytest.mark.parametrize(
    ("event", "message"),
    [
        ("text", "found str, expected an event"),
        ({"timestamp": 1}, "found deviceId null, expected a string"),
        ({"deviceId": "", "timestamp": 1}, "found deviceId '', expected a string"),
        ({"deviceId": 7.5, "timestamp": 1}, "found deviceId 7.5, expected a string"),
        ({"deviceId": "d"}, "found timestamp null, expected a time until 2286"),
        ({"deviceId": "d", "timestamp": -1}, "found timestamp -1, expected a time until"),
        ({"deviceId": "d", "timestamp": 10**13}, "found timestamp 10000000000000, expected a time"),
        ({"deviceId": "d", "timestamp": 1.5}, "found timestamp 1.5, expected a time"),
        ({"deviceId": "d", "timestamp": True}, "found timestamp True, expected a time"),
        ({"deviceId": "d", "timestamp": {"pin": 7}}, "found timestamp of type dict, expected a t"),
        ({"deviceId": ["pin"], "timestamp": 1}, "found deviceId of type list, expected a string"),
        ({"deviceId": "d", "timestamp": "x" * 99}, f"found timestamp '{'x' * 39}..., expected a t"),
    ],
    ids=str,
)
def test_a_record_that_names_no_row_is_unroutable(event: Any, message: str) -> None:
    with pytest.raises(UnroutableError) as caught:
        make_row(_READING, event, _RECORD, 1, "an-id")

    assert message in str(caught.value)
    assert caught.value.reason is Reason.UNROUTABLE
