"""The rows of a batch are marked by calls at once, each as it was tried."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from penstock.aws import AwsClient
from penstock.errors import Failure, Reason, SinkRefusedError
from penstock.records import FailedRecord, Record, Source
from penstock.sinks import DeadLetter, ErrorTable, Selection

_FAILURE = Failure(Reason.TRUNCATED, "cut off")


def _record(offset: int) -> FailedRecord:
    record = Record(Source("t", 0, offset), None, b"v", (), 7)
    return FailedRecord(record, _FAILURE, None, "spark", 7)


@pytest.mark.parametrize("parks", [True, False])
def test_many_rows_are_marked_by_calls_at_once(
    open_table: Callable[..., ErrorTable],
    replaying: ErrorTable,
    read_rows: Callable[[], list[dict[str, Any]]],
    monkeypatch: pytest.MonkeyPatch,
    parks: bool,
) -> None:
    open_table().keep([_record(each) for each in range(60)])
    tried = list(replaying.read(next(replaying.find(Selection()))))
    places = [f"s3://parked/{row.id}" for row in tried]
    replaying.mark_done(tried[30].id, "other")
    sent, send = list[int](), AwsClient.send_each

    def count(client: AwsClient, operation: str, bodies: list[bytes]) -> Any:
        sent.append(len(bodies))
        return send(client, operation, bodies)

    monkeypatch.setattr(AwsClient, "send_each", count)
    mark = (
        replaying.mark_all_parked(tried, places, "r")
        if parks
        else replaying.mark_all_done(tried, "r")
    )

    assert mark == [row is not tried[30] for row in tried]
    assert sent == [25, 25, 10]
    found = {row["id"]: row.get("parkedAt") for row in read_rows() if row["replay"] == "r"}
    assert found == {
        row.id: place if parks else None
        for row, place in zip(tried, places, strict=True)
        if row is not tried[30]
    }


def test_a_mark_that_is_refused_is_an_error(replaying: ErrorTable) -> None:
    row = {"id": f"{'t' * 2_049}/0/1/7", "kafkaTimestamp": 7, "reason": "truncated"}

    with pytest.raises(SinkRefusedError, match="UpdateItem was refused: ValidationException"):
        replaying.mark_all_done([DeadLetter.describe(row)], "r")


def test_failures_of_many_records_are_counted_by_calls_at_once(
    open_table: Callable[..., ErrorTable],
    replaying: ErrorTable,
    read_rows: Callable[[], list[dict[str, Any]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    open_table().keep([_record(each) for each in range(60)])
    other = replace(_record(30), failure=Failure(Reason.OVERSIZE, "too large"))
    replaying.count_failures([other], "other")
    sent, send = Counter[str](), AwsClient.send_each

    def count(client: AwsClient, operation: str, bodies: list[bytes]) -> Any:
        sent[operation] += 1
        return send(client, operation, bodies)

    monkeypatch.setattr(AwsClient, "send_each", count)
    # A record may be reported again, by another table.
    replaying.count_failures([*(_record(each) for each in range(60)), other], "r")

    # The rows of function and job: 120 ids, of which 60 exist.
    assert sent == {"BatchGetItem": 2, "UpdateItem": 3}
    found = {row["id"]: row["attempts"] for row in read_rows() if row["reason"] == "truncated"}
    assert found == {f"t/0/{each}/7/spark": 1 + (each == 30) for each in range(60)}
