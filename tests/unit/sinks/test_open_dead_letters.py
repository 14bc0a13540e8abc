"""Open dead letters are counted by an index that has nothing else, and no more than so many."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.errors import Failure, Reason
from penstock.records import FailedRecord, Record, Source
from penstock.sinks import JOIN, ErrorTable, OpenDeadLetters


def _give_up(table: ErrorTable, *stages: str, reason: Reason = Reason.TRUNCATED) -> None:
    """Give up records of these stages at the seconds from 100 on."""
    failed = [
        FailedRecord(
            Record(Source("sensor", 0, offset), None, b"v", (), 7),
            Failure(reason, ""),
            None,
            stage,
            100_000 + offset * 1_000,
        )
        for offset, stage in enumerate(stages)
    ]
    table.keep_rows(failed)


def test_each_row_counts_by_its_reason_and_the_oldest_has_an_age(replaying: ErrorTable) -> None:
    assert replaying.count_open(10) == OpenDeadLetters({}, 0, 0, is_complete=True)
    _give_up(replaying, "lambda", "spark", JOIN)
    _give_up(replaying, "spark", reason=Reason.OVERSIZE)

    found = replaying.count_open(10)

    assert found == OpenDeadLetters({"oversize": 1, "truncated": 2}, 1, 900, is_complete=True)
    assert found.total == 3


def test_settled_rows_and_leases_do_not_count(replaying: ErrorTable, stored_table: Any) -> None:
    _give_up(replaying, "lambda", "spark")
    done, parked = sorted(row["id"] for row in stored_table.scan()["Items"])
    replaying.mark_done(done, "replay")
    replaying.mark_parked(parked, "s3://parked/1", "replay")
    stored_table.put_item(Item={"id": "lease/consume", "holder": "me"})

    assert replaying.count_open(10).total == 0


@pytest.mark.parametrize(("stages", "complete"), [(3, False), (2, False), (1, True)])
def test_a_count_of_the_limit_may_be_more(
    replaying: ErrorTable, stages: int, complete: bool
) -> None:
    _give_up(replaying, *["spark"] * stages)

    found = replaying.count_open(2)

    assert (found.total, found.is_complete) == (min(stages, 2), complete)
