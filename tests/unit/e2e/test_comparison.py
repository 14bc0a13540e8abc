"""The comparison of events with rows goes red for one record that is lost, changed or too much."""

from __future__ import annotations

from decimal import Decimal
from operator import itemgetter

import pytest

from tests.e2e.model import expect_rows, find_differences, make_events

_SAMPLE = 20  # of the records, other ones in each run


@pytest.fixture
def expected(seeded):
    """The rows of all events, as if each had its record in one partition."""
    listed, single = make_events(seeded)
    events = listed + single
    schema = {"version": 1, "id": "an id"}
    answers = [
        {"topic": "sensor", "partition": 0, "offset": offset, "schema": schema}
        for offset in range(len(events))
    ]
    return expect_rows(events, answers)


def test_the_rows_that_are_expected_are_right(expected):
    assert len(expected) == 200
    assert len({row["deviceId"] for row in expected.values()}) == 20
    assert find_differences(expected, list(reversed(expected.values()))) == []


def test_a_record_that_is_lost_is_named(expected, seeded):
    for source in seeded.sample(sorted(expected), _SAMPLE):
        found = [row for row in expected.values() if row["_source"] != source]
        first, second = find_differences(expected, found)
        assert first == "199 rows, expected 200"
        assert second.startswith(f"{source}: None, expected ")


def test_a_value_that_is_altered_is_named(expected, seeded):
    for source, row in seeded.sample(sorted(expected.items(), key=itemgetter(0)), _SAMPLE):
        name = seeded.choice(sorted(row.keys() - {"_source"}))
        found = [each for each in expected.values() if each is not row]
        found.append(row | {name: _alter(row[name])})
        (difference,) = find_differences(expected, found)
        assert difference.startswith(f"{source}: ")


def test_a_field_that_is_lost_or_invented_is_named(expected):
    row = next(it for it in expected.values() if "count" in it)
    others = [each for each in expected.values() if each is not row]
    less = {name: value for name, value in row.items() if name != "count"}
    assert len(find_differences(expected, [*others, less])) == 1
    assert len(find_differences(expected, [*others, row | {"invented": None}])) == 1


def test_records_that_changed_places_and_one_too_many_are_named(expected):
    one, other, *rest = expected.values()
    changed = [one | {"_source": other["_source"]}, other | {"_source": one["_source"]}, *rest]
    assert len(find_differences(expected, changed)) == 2
    assert find_differences(expected, [one, *expected.values()]) == ["201 rows, expected 200"]
    foreign = one | {"_source": "sensor/0/900"}
    assert len(find_differences(expected, [foreign, *expected.values()])) == 2


def _alter(value):
    """The nearest value that is not the same."""
    if isinstance(value, bool):
        return Decimal(value)
    if isinstance(value, Decimal):
        return value.next_plus()
    if isinstance(value, list):
        return [*value, "more"]
    if isinstance(value, dict):
        return value | {"more": True}
    return f"{value} "
