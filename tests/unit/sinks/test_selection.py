"""A selection of dead letters."""

from __future__ import annotations

from penstock.sinks import DeadLetter, Selection


def _letter(row_id: str) -> DeadLetter:
    return DeadLetter.describe({"id": row_id, "kafkaTimestamp": 5, "reason": "oversize"})


def test_ids_are_the_only_rows_that_match() -> None:
    letters = [_letter("sensor/0/1/5"), _letter("sensor/0/1/5/spark"), _letter("sensor/0/2/5")]

    chosen = Selection(ids=frozenset({"sensor/0/1/5/spark"}))

    assert [chosen.matches(each) for each in letters] == [False, True, False]
    assert all(Selection().matches(each) for each in letters)
