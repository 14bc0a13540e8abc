"""An event time of any form: written, replayed, and in the order of rows."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.producing import EventProducer, Outcome, Produced, Refusal, Stamper
from penstock.records import Record, RowShape, Source, make_row
from penstock.registry import CachedRegistry
from penstock.schemas import Policy, Times
from tests.stubs.topic import FakeTopic
from tests.unit.producing.conftest import Build

_SHAPE = RowShape(("id",), event_time="createdAt")
_ISO = "2026-11-25T06:20:00.5+01:00"


@pytest.fixture
def producer(build: Build) -> EventProducer:
    return build(shape=_SHAPE, policy=Policy.GROW)


def _send(producer: EventProducer, *events: dict[str, Any]) -> list[Outcome]:
    stamper = Stamper(_SHAPE, "")
    return producer.produce([stamper.stamp({"id": "1"} | event) for event in events], 90)


def _write(
    producer: EventProducer, topic: FakeTopic, registry: CachedRegistry, *events: dict[str, Any]
) -> list[Any]:
    """Write events, and return their times as consumers read them."""
    before = len(topic.records)
    outcomes = _send(producer, *events)
    assert len(topic.records) == before + len(events), outcomes
    return [each["createdAt"] for each in topic.events(registry)[before:]]


def test_text_in_the_first_event_makes_a_field_of_text(
    producer: EventProducer, topic: FakeTopic, registry: CachedRegistry
) -> None:
    first, stamped = _write(producer, topic, registry, {"createdAt": _ISO}, {})

    assert first == _ISO
    assert stamped.startswith("20")
    assert stamped.endswith("Z")
    assert producer.version_count == 1


def test_text_after_an_event_without_a_time_is_written_as_milliseconds(
    producer: EventProducer, topic: FakeTopic, registry: CachedRegistry
) -> None:
    stamped, second = _write(producer, topic, registry, {}, {"createdAt": _ISO})

    assert stamped > 1_700_000_000_000
    assert second == 1_795_584_000_500
    assert producer.version_count == 1


def test_a_replayed_event_has_the_time_that_it_was_given_in_the_form_of_the_field(
    producer: EventProducer, topic: FakeTopic, registry: CachedRegistry
) -> None:
    _, again = _write(producer, topic, registry, {"createdAt": _ISO}, {"createdAt": 1795584000500})

    assert again == "2026-11-25T05:20:00.500Z"


@pytest.mark.parametrize("text", ["1970-01-03T00:00:00Z", "1971-06-01T00:00:00Z"])
def test_a_time_whose_number_has_another_unit_is_refused(
    producer: EventProducer, topic: FakeTopic, registry: CachedRegistry, text: str
) -> None:
    assert (
        _write(producer, topic, registry, {}, {"createdAt": "1970-01-02T00:00:00Z"})[1]
        == 86_400_000
    )

    (refusal,) = _send(producer, {"createdAt": text})

    assert isinstance(refusal, Refusal)
    assert refusal.is_final
    assert refusal.message.endswith(
        "expected a time from March 1973 on: readers take a smaller number for another unit"
    )


def test_a_clock_that_nobody_has_set_has_no_number_of_microseconds(build: Build) -> None:
    micros = build(shape=_SHAPE, times=Times.MICROS)
    times = [_ISO, 5, "1970-01-01T00:00:05Z", 0]

    outcomes = _send(micros, *({"createdAt": time} for time in times))

    assert [type(each) for each in outcomes] == [Produced, Refusal, Refusal, Produced]


def _sort_key(time: Any, offset: int = 7) -> str:
    record = Record(Source("t", 0, offset), b"1", b"")
    return str(make_row(_SHAPE, {"id": "1", "createdAt": time}, record, 1, "s")["readingId"])


def test_rows_are_in_the_order_of_their_times_whatever_their_form() -> None:
    times = [
        5,
        1795583999,  # seconds
        1795583999999,
        "2026-11-25T06:20:00+01:00",
        "2026-11-25T05:20:00.0000001Z",
        1795584000000001,  # microseconds
        "2026-11-25T05:20:00.000012Z",
        1795584000001,
        "2026-11-25T06:20:01+01:00",
    ]

    keys = [_sort_key(time, offset) for offset, time in reversed(list(enumerate(times)))]

    assert sorted(keys) == keys[::-1]
    assert _sort_key(1795584000000) == "1795584000000-t-0-7"
    assert _sort_key(1795584000000001) == "1795584000000.001-t-0-7"
