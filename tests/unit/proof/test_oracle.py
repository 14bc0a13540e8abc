"""The oracle reaches each verdict, on doctored outcomes of one change."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from proof.change import Change, Kind, Row
from proof.changes import CHANGES
from proof.oracle import Found, Judgement, Verdict, find_wrong, is_complete, judge
from proof.sent import Sent
from systems.matching import matches

_DAMAGED = next(each for each in CHANGES if each.name == "damaged")
_ADDED = next(each for each in CHANGES if each.name == "add-with-default")


def _sent(change: Change) -> list[Sent]:
    return [
        Sent(
            change.name,
            record.row["id"],
            record.kind,
            None if record.kind is Kind.EMPTY else f"{at}".encode(),
        )
        for at, record in enumerate(change.records)
    ]


def _rows(change: Change) -> list[Row]:
    return list(change.expected().values())


def _judge(
    change: Change,
    rows: Sequence[Row],
    letters: Sequence[bytes] = (),
    *,
    restarted: bool = False,
    ended: bool = False,
) -> Judgement:
    found = Found(rows, letters)
    return judge(change, _sent(change), found, restarted=restarted, ended=ended)


def _bad(change: Change) -> list[bytes]:
    return [each.value for each in _sent(change) if each.kind is Kind.BAD and each.value]


def test_all_rows_are_kept() -> None:
    assert _judge(_ADDED, _rows(_ADDED)) == Judgement(Verdict.KEPT, "")


def test_bad_records_in_dead_letters_are_as_good_as_kept() -> None:
    found = _judge(_DAMAGED, _rows(_DAMAGED), _bad(_DAMAGED))

    assert found == Judgement(Verdict.KEPT, "2 of 27 records in dead letters, the bad ones")


def test_a_record_without_a_value_needs_no_row() -> None:
    change = next(each for each in CHANGES if each.name == "tombstone")

    assert _judge(change, _rows(change)).verdict is Verdict.KEPT


def test_good_records_in_dead_letters_by_their_bytes() -> None:
    sent = _sent(_ADDED)
    letters = [each.value for each in sent[10:12] if each.value]

    found = _judge(_ADDED, _rows(_ADDED)[:10] + _rows(_ADDED)[12:], letters)

    assert found == Judgement(Verdict.DEAD_LETTER, "2 of 25 records in dead letters")


def test_a_dead_letter_with_other_bytes_is_none() -> None:
    rows = _rows(_ADDED)

    assert _judge(_ADDED, rows[:10] + rows[11:], [b"other"]).verdict is Verdict.LOST


def test_a_bad_record_that_is_nowhere_is_lost() -> None:
    found = _judge(_DAMAGED, _rows(_DAMAGED), _bad(_DAMAGED)[1:])

    assert found == Judgement(Verdict.LOST, "1 of 27 records nowhere")


def test_a_stream_that_was_started_again_and_went_on_needed_a_restart() -> None:
    assert _judge(_ADDED, _rows(_ADDED), restarted=True).verdict is Verdict.RESTART


def test_a_stream_that_lost_records_at_its_restart_lost_them() -> None:
    assert _judge(_ADDED, _rows(_ADDED)[1:], restarted=True).verdict is Verdict.LOST


def test_a_stream_that_ended_again_is_stopped() -> None:
    found = _judge(_ADDED, _rows(_ADDED)[:10], restarted=True, ended=True)

    assert found == Judgement(Verdict.STOPPED, "15 of 25 records nowhere")


def test_a_stream_that_runs_without_the_last_records_is_stopped() -> None:
    assert _judge(_ADDED, _rows(_ADDED)[:20]).verdict is Verdict.STOPPED


def _changed(rows: Sequence[Row], **values: Any) -> list[Row]:
    return [{**rows[0], **values}, *rows[1:]]


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        (_changed(_rows(_ADDED), device="x"), "`device` is x, sent text 0 (1 of 25 rows)"),
        (_changed(_rows(_ADDED), device=None), "`device` is null, sent text 0 (1 of 25 rows)"),
        (_changed(_rows(_ADDED), count=3), "`count` is 3, not sent (1 of 25 rows)"),
        ([*_rows(_ADDED), _rows(_ADDED)[3]], "1 records are in several rows"),
        ([*_rows(_ADDED), {"id": "9"}], "1 rows that no good record is, such as `id` 9"),
        ([*_rows(_ADDED), {"id": None}], "1 rows without `id`"),
    ],
)
def test_a_wrong_row_is_worse_than_all_else(rows: list[Row], reason: str) -> None:
    assert _judge(_ADDED, rows, ended=True) == Judgement(Verdict.WRONG, reason)


def test_a_field_that_was_not_sent_may_have_its_default() -> None:
    assert _judge(_ADDED, _changed(_rows(_ADDED), count=7)).verdict is Verdict.KEPT


def test_a_row_of_a_bad_record_is_wrong() -> None:
    change = replace(_DAMAGED)
    bad = next(each for each in _sent(change) if each.kind is Kind.BAD)

    assert "no good record" in find_wrong(change.expected(), {}, [{"id": bad.id}])


def test_a_round_is_complete_with_rows_and_dead_letters() -> None:
    sent = _sent(_DAMAGED)

    assert is_complete(sent, Found(_rows(_DAMAGED), _bad(_DAMAGED)))
    assert not is_complete(sent, Found(_rows(_DAMAGED), ()))
    assert not is_complete(sent, Found([{"id": each.id} for each in sent], ()))


_NOON = dt.datetime(2026, 11, 27, 12, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("sent", "found"),
    [
        (None, None),
        (None, {"x": None}),
        (1, Decimal(1)),
        (7, "7"),
        (2**40, 2**40),
        (0.1, 0.1),
        (Decimal("0.50"), Decimal("0.5")),
        (3, {"int": 3, "string": None}),
        ("a", {"int": None, "string": "a"}),
        ("a", "a"),
        (b"a", bytearray(b"a")),
        (_NOON, _NOON.replace(tzinfo=None)),
        (_NOON, "2026-11-27T12:00:00+00:00"),
        (_NOON, Decimal(1795780800000)),
        (_NOON.replace(microsecond=3), 1795780800000003),
        ([1, 2], [1, 2]),
        ({"a": 1}, [("a", 1)]),
        ({"a": 1, "b": None}, {"a": 1}),
        ({"a": 1}, {"a": 1, "new": None}),
        (True, True),
    ],
)
def test_a_value_in_another_type_is_the_same(sent: Any, found: Any) -> None:
    assert matches(sent, found)


@pytest.mark.parametrize(
    ("sent", "found"),
    [
        (None, 0),
        (1, None),
        (1, True),
        (1, "one"),
        (True, 1),
        ("1", 1),
        ("a", None),
        (b"a", None),
        (0.1, 0.10000000149011612),
        (_NOON, _NOON.replace(year=2027)),
        (_NOON, None),
        (_NOON, 1795780800000000000),
        (_NOON, 0.5),
        (_NOON, 1795780800),
        ([1, 2], [2, 1]),
        ([1], [1, 2]),
        ([], None),
        ({"a": 1}, None),
        ({"a": 1}, {"a": 2}),
        ({"a": 1}, {"a": 1, "new": 0}),
        (3, {"int": 3, "string": "3"}),
    ],
)
def test_another_value_is_not(sent: Any, found: Any) -> None:
    assert not matches(sent, found)


def test_a_value_that_is_none_of_avro_is_an_error() -> None:
    with pytest.raises(TypeError, match="found object, expected a value of Avro"):
        matches(object(), 1)
