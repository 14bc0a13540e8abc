"""The oracle finds what is wrong in histories that were doctored."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import fastavro
import pytest

from tests.simulation.oracle import (
    Sent,
    Written,
    check_log,
    check_sent,
    check_tables,
    find_kinds,
    group_by_source,
    list_event_kinds,
)


@dataclass(frozen=True)
class _Version:
    number: int
    definition: str

    @property
    def id(self) -> str:
        return str(UUID(int=self.number))


def _version(number: int, **types: Any) -> _Version:
    fields = [{"name": name, "type": ["null", type_]} for name, type_ in types.items()]
    base = [{"name": "timestamp", "type": "long"}, {"name": "n", "type": "int"}]
    record = {"type": "record", "name": "r", "fields": [*base, *fields]}
    return _Version(number, json.dumps(record))


_VERSIONS = [_version(1), _version(2, t="double")]


def _record(offset: int, event: dict[str, Any], *, time_ms: int = 0) -> Written:
    version = _VERSIONS["t" in event]
    out = io.BytesIO()
    stamped = {"timestamp": time_ms or offset, **event}
    fastavro.schemaless_writer(out, json.loads(version.definition), stamped)
    value = b"\x03\x00" + UUID(version.id).bytes + out.getvalue()
    return Written(f"sensor/0/{offset}", "d", time_ms or 100 + offset, offset, value, False)


def _row(record: Written, **event: Any) -> dict[str, Any]:
    return {"deviceId": "d", "readingId": "1", "_source": record.place, **event}


_RECORDS = [_record(0, {"n": 0}), _record(1, {"n": 1, "t": 2.5})]
_ROWS = {
    "sensor/0/0": _row(_RECORDS[0], n=0),
    "sensor/0/1": _row(_RECORDS[1], n=1, t=2.5),
}
_NEWEST = {"d": _ROWS["sensor/0/1"]}
_LETTER = {"reason": "decode", "detail": "no"}


def _check(records=_RECORDS, rows=_ROWS, newest=_NEWEST, letters=()):
    return list(check_tables(records, _VERSIONS, rows, newest, dict(letters)))


def test_a_history_that_is_right_has_no_problem():
    assert _check() == []


def test_a_record_without_a_row_is_lost():
    assert _check(rows={"sensor/0/1": _ROWS["sensor/0/1"]}) == ["sensor/0/0 is lost"]


def test_a_record_that_was_given_up_is_told_with_the_reason():
    rows, letters = {"sensor/0/1": _ROWS["sensor/0/1"]}, {"sensor/0/0/100": _LETTER}

    assert _check(rows=rows, letters=letters) == ["sensor/0/0 is given up for decode: no"]


def test_a_record_that_is_a_row_and_a_letter_is_told():
    assert _check(letters={"sensor/0/0/100": _LETTER}) == ["sensor/0/0 is a row and a dead letter"]


@pytest.mark.parametrize("event", [{"n": 5}, {"n": 0, "x": 1}, {}])
def test_a_row_with_other_values_is_told(event):
    (problem,) = _check(rows=_ROWS | {"sensor/0/0": _row(_RECORDS[0], **event)})

    assert problem.startswith("sensor/0/0 is the row ")


def test_a_row_and_a_letter_of_no_record_are_told():
    rows = _ROWS | {"sensor/0/9": _row(_record(9, {"n": 9}), n=9)}

    assert _check(rows=rows, letters={"sensor/0/8/1": _LETTER}) == [
        "no record sensor/0/9 was written, and there is its row",
        "no record sensor/0/8/1 was written, and there is its letter",
    ]


def test_two_rows_of_one_record_are_told():
    with pytest.raises(AssertionError):
        group_by_source([_ROWS["sensor/0/0"]] * 2)


def test_two_records_of_a_device_with_one_time_are_told():
    again = _record(1, {"timestamp": _RECORDS[0].offset, "n": 1, "t": 2.5})

    assert _check([_RECORDS[0], again]) == [
        "sensor/0/1 has the time of another record of its device"
    ]


def test_the_newest_row_is_by_time_and_then_by_offset():
    (problem,) = _check(newest={"d": _ROWS["sensor/0/0"]})
    assert problem == "the newest row of d is of sensor/0/0, expected sensor/0/1"

    later = replace(_RECORDS[0], time_ms=500)
    assert _check([later, _RECORDS[1]], newest={"d": _ROWS["sensor/0/0"]}) == []
    assert _check(newest={}) == ["the newest row of d is of None, expected sensor/0/1"]


def test_a_hostile_record_is_a_letter_and_no_row():
    hostile = Written("sensor/0/2", "d", 102, 2, b"{", True)
    letters = {"sensor/0/2/102": _LETTER}

    assert _check([*_RECORDS, hostile], letters=letters) == []
    assert _check([*_RECORDS, hostile]) == ["sensor/0/2 is hostile, and no dead letter"]


def test_the_kind_of_a_field_is_that_of_its_first_version():
    versions = [_version(1, t="double"), _version(2, t="string", u="int"), _version(3, v="long")]

    kinds = {"timestamp": "number", "n": "number", "t": "number", "v": "number"}
    assert find_kinds(versions) == kinds


def test_kinds_of_nested_values_have_paths():
    event = {"a": [1], "o": {"x": "y", "z": None}, "b": True}

    assert list(list_event_kinds(event)) == [
        ("a", "array"), ("a[]", "number"), ("o", "record"), ("o.x", "string"), ("b", "boolean"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("sent", "problem"),
    [
        (Sent({"n": 0}, place="sensor/0/0"), None),
        (Sent({"n": 3}, place="sensor/0/0"), "sensor/0/0 is not {'n': 3}"),
        (Sent({"n": 0}, place="sensor/0/7"), "was acknowledged as sensor/0/7, which is not there"),
        (Sent({"n": 4, "t": "warm"}, refused_for="conflict"), None),
        (Sent({"n": 4}, refused_for="conflict"), "was refused for conflict, and contradicts"),
    ],
)
def test_what_a_sender_was_told_is_checked(sent, problem):
    found = list(check_sent([sent], {each.place: each for each in _RECORDS}, _VERSIONS, 10))

    assert len(found) == (problem is not None)
    assert problem is None or problem in found[0]


def test_a_refusal_is_right_once_the_budget_is_used_up():
    refused = Sent({"n": 4, "x": 1}, refused_for="budget")

    assert list(check_sent([refused], {}, _VERSIONS, len(_VERSIONS))) == []


def test_a_letter_that_the_log_lacks_or_has_in_two_objects_is_told():
    line = b'{"error_table": "errors", "id": "a"}\n'

    assert list(check_log([line], [("errors", "a")])) == []
    assert list(check_log([line, line], [("errors", "b")])) == [
        "the log has two objects of (('errors', 'a'),)",
        "the log lacks ('errors', 'b')",
    ]
