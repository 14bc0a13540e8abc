"""The demo's own check goes red for a row that is missing, altered, foreign or rewritten."""

from __future__ import annotations

from decimal import Decimal

import pytest

from demo.rows import Sent, find_wrong_rows, show_row


def sent(offset, event):
    """An event that was written under version 2."""
    schema = {"name": "sensor", "version": 2, "id": "x", "created": False}
    answer = {"topic": "sensor", "partition": 0, "offset": offset, "schema": schema}
    return Sent(event, answer)


def row(offset, version=2, **fields):
    """The row of a record, under the record's coordinates."""
    source = f"sensor/0/{offset}"
    own = {"deviceId": "000001", "readingId": "r", "timestamp": Decimal(1)}
    return {source: own | fields | {"_source": source, "_schema": Decimal(version)}}


SENT = [sent(1, {"temperature": Decimal("30.5")}), sent(2, {"samples": [{"at": 1, "value": None}]})]
OLD = row(0, temperature=Decimal(1))
NEW = row(1, temperature=Decimal("30.5")) | row(2, samples=[{"at": Decimal(1)}])


def test_rows_that_are_as_they_were_sent_are_right():
    assert find_wrong_rows(SENT, OLD, OLD | NEW) == []


@pytest.mark.parametrize(
    ("after", "problem"),
    [
        (OLD | row(1, temperature=Decimal("30.5")), "sensor/0/2: {}, expected {'samples'"),
        (OLD | NEW | row(1, temperature=Decimal(30)), "sensor/0/1: {'temperature': Decimal('30')"),
        (OLD | NEW | row(1, 1, temperature=Decimal("30.5")), "sensor/0/1: "),
        (OLD | NEW | row(3), "sensor/0/3: unexpected row"),
        (OLD | NEW | row(0, temperature=Decimal(2)), "sensor/0/0: changed"),
        (NEW, "sensor/0/0: changed"),
    ],
    ids=["missing", "altered", "other version", "foreign", "old one altered", "old one missing"],
)
def test_a_wrong_row_is_named(after, problem):
    assert [line for line in find_wrong_rows(SENT, OLD, after) if line.startswith(problem)]


def test_numbers_are_shown_as_numbers():
    place = {"latitude": Decimal("52.52"), "floor": Decimal(3)}

    assert show_row({"location": place})["location"] == '{"latitude": 52.52, "floor": 3}'
    assert sent(1, place).describe()["event"] == '{"latitude": 52.52, "floor": 3}'
