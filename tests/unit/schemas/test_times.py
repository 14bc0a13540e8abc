"""A time is read from text and from numbers of each unit, and written in the form of its field."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import EventValueError, SchemaConflictError
from penstock.schemas import (
    Times,
    TypeRules,
    decode_event,
    encode,
    fit_event_time,
    infer_schema,
    merge_schemas,
    read_time,
    to_record,
)

_BASE = ({"name": "at", "type": "long"},)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
_MOMENTS = st.datetimes(datetime(1974, 1, 1), datetime(2286, 1, 1), timezones=_ZONES)


@given(moment=_MOMENTS, places=st.integers(0, 9), mark=st.sampled_from("T "))
def test_text_is_the_moment_that_it_names(moment: datetime, places: int, mark: str) -> None:
    digits = f"{moment.microsecond:06d}000"[:places]
    zone = moment.isoformat()[-6:]
    text = moment.strftime(f"%Y-%m-%d{mark}%H:%M:%S") + (f".{digits}" if digits else "") + zone

    whole = (moment.replace(microsecond=0) - _EPOCH) // timedelta(seconds=1)
    found = read_time(text)

    assert found == whole * 10**9 + int(digits.ljust(9, "0"))
    if zone == "+00:00":
        assert read_time(text.replace(zone, "Z")) == found
    assert read_time(text[:-3] + text[-2:]) == found


@given(moment=_MOMENTS)
def test_a_number_of_any_unit_is_the_moment(moment: datetime) -> None:
    micros = (moment - _EPOCH) // timedelta(microseconds=1)

    assert read_time(micros) == micros * 1_000
    assert read_time(micros // 1_000) == micros // 1_000 * 10**6
    assert read_time(micros // 10**6) == micros // 10**6 * 10**9


def test_numbers_of_each_unit_meet_in_march_1973() -> None:
    assert [read_time(value) for value in (0, 10**8 - 1, 10**8, 10**11 - 1)] == [
        0, (10**8 - 1) * 10**6, 10**17, None
    ]  # fmt: skip
    assert [read_time(value) for value in (10**11, 10**13 - 1, 10**13, 10**14, 10**16)] == [
        10**17, (10**13 - 1) * 10**6, None, 10**17, None
    ]  # fmt: skip


@pytest.mark.parametrize(
    "value",
    [
        True, None, 5.5, -1, [], "", "soon", "2026-11-25", "2026-11-25T06:20:00", "06:20:00Z",
        "2026-11-25T06:20Z", "2026-11-25T24:20:00Z", "2026-02-30T06:20:00Z", "1969-12-31T23:59:59Z",
        "2286-11-20T17:46:40Z", "2026-11-25T06:20:00.1234567890Z", "2026-11-25T06:20:00+1:00",
        "٢٠٢٦-11-25T06:20:00Z", "2026-11-25T06:20:00Z\n",
    ],
)  # fmt: skip
def test_other_values_are_no_times(value: Any) -> None:
    assert read_time(value) is None


_NOW = 1_795_584_000_007


def _send(events: list[dict[str, Any]], times: Times) -> list[Any]:
    """Return the records of events as they are decoded, under the merge of their schemas."""
    rules, known = TypeRules(times=times, event_time="at"), None
    for event in events:
        inferred = infer_schema(event, "e", known, _BASE, rules)
        known = merge_schemas([known, inferred] if known else [inferred])
    timed = [fit_event_time({"at": _NOW} | event, known, "at") for event in events]
    return [decode_event(encode(to_record(each, known), known), known) for each in timed]


def test_the_option_makes_timestamps_of_texts_in_new_fields() -> None:
    events = [
        {"at": "2026-11-25T06:20:00.123+01:00", "o": {"paid": "1950-01-01T00:00:00Z"}, "n": "x"},
        {"at": 1795584000},
        {},
    ]

    first, second, third = _send(events, Times.MILLIS)
    assert first == {"at": 1795584000123, "o": {"paid": -631152000000}, "n": "x"}
    assert (second, third) == ({"at": 1795584000000}, {"at": _NOW})
    assert _send(events, Times.MICROS)[0]["at"] == 1795584000123000
    assert _send(events, Times.TEXT)[0]["o"] == {"paid": "1950-01-01T00:00:00Z"}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("2026-11-25T06:20:00.1234Z", "paid: found the string .*, expected timestamp-millis as in"),
        ("soon", "paid: found the string 'soon', expected timestamp-millis as in the versions bef"),
    ],
)
def test_what_a_timestamp_does_not_hold_is_refused(value: str, message: str) -> None:
    events = [{"paid": "2026-11-25T06:20:00Z"}, {"paid": value}]

    with pytest.raises(SchemaConflictError, match=message):
        _send(events, Times.MILLIS)


def test_a_text_that_is_no_time_is_refused_before_its_field_has_a_type() -> None:
    with pytest.raises(EventValueError, match="at: found the string 'soon', expected a time until"):
        infer_schema({"at": "soon"}, "e", None, _BASE, TypeRules(event_time="at"))
