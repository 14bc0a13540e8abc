"""The oracle of captured tables finds what is wrong in copies that were doctored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from campaign.copies import find_copy_problems
from campaign.history import Captured, Row
from campaign.oracle import Kind

_ROW: Row = {
    "id": 7,
    "title": "new",
    "plot": None,
    "tags": ["a", None],
    "rate": Decimal("0.90"),
    "changed": "2026-11-28T08:00:00.120000Z",
}
_OTHER = {**_ROW, "id": 8, "title": "other"}
_COPIES: Mapping[str, list[Row]] = {
    "lake": [{**_ROW, "rate": "0.90", "_lsn": 5}, {**_OTHER, "rate": "0.90"}],
    "dynamodb": [{**_ROW, "id": "7"}, {**_OTHER, "id": "8"}, {"id": "9", "_deleted": True}],
}
_VALID: Row = {"rate": "0.90", "_lsn": 5, "_offset": 2, "_until_lsn": None, "_until_offset": None}
_BEFORE: Row = {**_VALID, "id": 7, "_lsn": 3, "_until_lsn": 5, "_until_offset": 2}
_HISTORY: list[Row] = [_BEFORE, {**_ROW, **_VALID}, {**_OTHER, **_VALID}]
_CAPTURED = Captured(
    {"film": [_ROW, _OTHER]},
    {sink: {"film": rows} for sink, rows in _COPIES.items()},
    {"film": _HISTORY},
    [],
)


def _check(sink: str, rows: list[Row]) -> list[tuple[Kind, str]]:
    copies = {**_CAPTURED.copies, sink: {"film": rows}}
    found = find_copy_problems(replace(_CAPTURED, copies=copies))
    return [(each.kind, each.what) for each in found]


def test_copies_that_are_equal_are_right() -> None:
    assert find_copy_problems(_CAPTURED) == []


@pytest.mark.parametrize("sink", _COPIES)
def test_a_row_that_is_lost_is_told(sink: str) -> None:
    rows = [each for each in _COPIES[sink] if str(each["id"]) != "7"]

    assert _check(sink, rows) == [(Kind.LOST, f"cdc, {sink}, film/7: no row")]


@pytest.mark.parametrize("sink", _COPIES)
@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"title": "old"}, "film/8: title is 'old', sent 'other'"),
        ({"rate": "0.91"}, "film/8: rate is '0.91', sent Decimal('0.90')"),
        ({"title": "a" * 99}, f"film/8: title is '{'a' * 76}..., sent 'other'"),
        ({"tags": ["a"]}, "film/8: tags is ['a'], sent ['a', None]"),
        ({"plot": "__debezium_unavailable_value"}, "film/8: plot is '__debezium_unavailable_value'"
         ", sent None"),
    ],
)  # fmt: skip
def test_a_value_that_the_database_does_not_have_is_told(
    sink: str, change: Row, problem: str
) -> None:
    rows = [{**each, **change} if str(each["id"]) == "8" else each for each in _COPIES[sink]]

    assert _check(sink, rows) == [(Kind.ORDER, f"cdc, {sink}, {problem}")]


@pytest.mark.parametrize("sink", _COPIES)
def test_a_row_that_was_deleted_is_told(sink: str) -> None:
    problem = f"cdc, {sink}, film/9: a row that the database does not have"

    assert _check(sink, [*_COPIES[sink], {**_ROW, "id": 9}]) == [(Kind.ORDER, problem)]


def test_a_row_that_is_there_twice_is_told() -> None:
    assert _check("lake", [*_COPIES["lake"], _ROW]) == [(Kind.TWICE, "cdc, lake, film/7: 2 rows")]


def test_a_change_that_was_given_up_is_told() -> None:
    letter: Any = {"id": "films.public.film/0/3/x", "reason": "truncated"}
    (found,) = find_copy_problems(replace(_CAPTURED, letters=[letter]))

    what = "cdc: films.public.film/0/3/x is good, given up for truncated"
    assert found == (Kind.LETTER, what)


def _check_history(rows: list[Row]) -> list[tuple[Kind, str]]:
    found = find_copy_problems(replace(_CAPTURED, versions={"film": rows}))
    return [(each.kind, each.what) for each in found]


@pytest.mark.parametrize(
    ("end", "told"),
    [
        ({"_until_offset": 3}, "ends at (5, 3), the next is from (5, 2)"),
        ({"_until_lsn": 6}, "ends at (6, 2), the next is from (5, 2)"),
    ],
)
def test_versions_that_overlap_are_told(end: Row, told: str) -> None:
    problems = _check_history([{**_BEFORE, **end}, *_HISTORY[1:]])

    assert problems == [(Kind.ORDER, f"cdc, history, film/7: {told}")]


def test_a_version_that_is_valid_for_ever_is_told() -> None:
    problems = _check_history([*_HISTORY, {**_BEFORE, **_VALID, "_lsn": 3}])

    assert (Kind.TWICE, "cdc, history, film/7: 2 rows") in problems


def test_a_version_may_end_before_the_next_one_begins() -> None:
    """The row was deleted in between."""
    assert _check_history([{**_BEFORE, "_until_lsn": 4}, *_HISTORY[1:]]) == []


def test_a_row_without_a_valid_version_is_told() -> None:
    assert _check_history(_HISTORY[:2]) == [(Kind.LOST, "cdc, history, film/8: no row")]
