"""Rows of errors are found, read whole, and marked with what came of another try."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from penstock.errors import Failure, Reason, SinkUnavailableError
from penstock.framing import SchemaKey
from penstock.records import FailedRecord, Record, Source
from penstock.sinks import (
    DeadLetter,
    DynamoDbClient,
    ErrorTable,
    ObjectStore,
    Selection,
)
from tests.stubs.dynamodb_api import DynamoDbApi, Reply

_Rows = Callable[[], list[dict[str, Any]]]
_Open = Callable[..., ErrorTable]


_KEY = SchemaKey.parse("d3e21a3b-f828-4f0c-9f3e-0b1f9a1c2d3e")


def _record(offset: int = 1, **changes: Any) -> FailedRecord:
    """Give a record up, as it is named or otherwise."""
    values: dict[str, Any] = {
        "reason": Reason.UNKNOWN_SCHEMA,
        "detail": "no such version",
        "schema": _KEY,
        "key": b"k",
        "value": b"\0\xff",
        "headers": (("h", b""), ("none", None)),
        "stage": "lambda",
        "first_seen_ms": 100 + offset,
    } | changes
    record = Record(
        Source("my/sensor", 3, offset), values["key"], values["value"], values["headers"], 7
    )
    failure = Failure(values["reason"], values["detail"])
    schema, stage, seen = (values[name] for name in ("schema", "stage", "first_seen_ms"))
    return FailedRecord(record, failure, schema, stage, seen)


def _mark_tried(replaying: ErrorTable, replay: str, attempts: int) -> list[bool]:
    """Mark the row of a record as done, which was tried when it had these attempts."""
    found = {"id": _record().id, "kafkaTimestamp": 7, "reason": "truncated", "attempts": attempts}
    return replaying.mark_all_done([DeadLetter.describe(found)], replay)


def _by_offset(rows: _Rows) -> dict[int, dict[str, Any]]:
    return {int(row["id"].split("/")[3]): row for row in rows()}


@pytest.mark.parametrize("size", [1, 500_000])
def test_a_record_is_read_as_it_was_given_up(
    open_table: _Open, replaying: ErrorTable, size: int
) -> None:
    kept = _record(value=b"\xff" * size)
    open_table().keep([kept])

    (found,) = replaying.read(["my/sensor/3/1/7", "my/sensor/3/2/7"])

    assert (found.source, found.key, found.value) == (kept.record.source, b"k", kept.record.value)
    assert (found.id, found.kafka_timestamp_ms) == (kept.id, 7)
    assert found.headers == kept.record.headers
    assert (found.reason, found.schema_id, found.attempts) == ("unknown-schema", str(_KEY), 0)
    assert (found.first_seen_ms, found.stage, found.settled) == (101, "lambda", False)


def test_headers_are_read_from_the_bucket_too(open_table: _Open, replaying: ErrorTable) -> None:
    kept = _record(headers=(("h", b"x" * 500_000), ("", b""), ("none", None)))
    open_table().keep([kept])

    (found,) = replaying.read(["my/sensor/3/1/7"])

    assert found.headers == kept.record.headers


def test_a_row_whose_object_is_gone_says_so_and_the_others_are_read(
    open_table: _Open, replaying: ErrorTable, bucket_client: Any, read_rows: _Rows
) -> None:
    open_table().keep([_record(1, value=b"x" * 500_000), _record(2)])
    where = _by_offset(read_rows)[1]["valueAt"]
    bucket, _, key = where.removeprefix("s3://").partition("/")
    bucket_client.delete_object(Bucket=bucket, Key=key)

    lost, whole = replaying.read(["my/sensor/3/1/7", "my/sensor/3/2/7"])

    assert (lost.id, lost.value, lost.lost) == ("my/sensor/3/1/7", None, f"{where} is not there")
    assert (whole.value, whole.lost) == (b"\0\xff", "")


def test_a_row_outside_the_selection_is_not_fetched_from_the_bucket(
    open_table: _Open, replaying: ErrorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_table().keep([_record(value=b"x" * 500_000)])
    monkeypatch.delattr(ObjectStore, "get")

    assert list(replaying.read(["my/sensor/3/1/7"], lambda row: False)) == []


@pytest.mark.parametrize(
    ("selection", "offsets"),
    [
        (Selection(), [1, 2, 3]),
        (Selection(since_ms=102), [2, 3]),
        (Selection(until_ms=102), [1]),
        (Selection(ids=frozenset({"my/sensor/3/2/7", "my/sensor/3/4/7", "my/sensor/3/9/7"})), [2]),
        (Selection(reasons=frozenset({Reason.TRUNCATED})), [2]),
        (Selection(schema_ids=frozenset({str(_KEY)})), [1, 2]),
        (Selection(attempts=1), [3]),
        (Selection(due_s=4_599), [1, 2]),
        (Selection(due_s=4_600), [1, 2, 3]),
        (Selection(since_ms=102, schema_ids=frozenset({str(_KEY)})), [2]),
    ],
)
def test_rows_are_selected(
    open_table: _Open, replaying: ErrorTable, selection: Selection, offsets: list[int]
) -> None:
    given_up = [_record(1), _record(2, reason=Reason.TRUNCATED), _record(3, schema=None)]
    open_table().keep([*given_up, _record(4), _record(5)])
    replaying.count_failures([given_up[2]], "r1")
    replaying.mark_done(_record(4).id, "r1")
    replaying.mark_parked(_record(5).id, "s3://parked/5", "r1")

    (found,) = replaying.find(selection)

    assert found == [f"my/sensor/3/{offset}/7" for offset in offsets]
    assert all(selection.matches(row) for row in replaying.read(found))


def test_ids_are_read_without_the_index_and_a_join_keeps_its_own(
    open_table: _Open, replaying: ErrorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_table().keep([_record(1), _record(1, stage="spark"), _record(1, stage="join")])
    monkeypatch.delattr(ErrorTable, "find_pages")
    both = ("my/sensor/3/1/7/join", "my/sensor/3/1/7/spark")

    assert [*replaying.find(Selection(ids=frozenset(both)))] == [[both[1]]]
    described = replaying.describe(Selection(ids=frozenset(both)))
    assert [each.id for each in described] == [*both]


def test_a_row_takes_one_result_of_each_replay(
    open_table: _Open, replaying: ErrorTable, read_rows: _Rows
) -> None:
    open_table().keep([_record(1), _record(2)])
    failed = _record(1, reason=Reason.TRUNCATED, detail="x" * 5_000)
    for replay in ("r1", "r1", "r2"):
        replaying.count_failures([failed], replay)
    assert not replaying.mark_done(failed.id, "r2")
    assert replaying.mark_done(_record(2).id, "r2")
    replaying.count_failures([_record(2)], "r3")  # a task that came late
    # Those that are gone are not made again.
    assert not replaying.mark_done(_record(9).id, "r2")
    assert not replaying.mark_parked(_record(9).id, "s3://parked/9", "r2")
    replaying.count_failures([_record(9)], "r2")

    found = _by_offset(read_rows)
    assert set(found) == {1, 2}
    assert (found[1]["attempts"], found[1]["reason"], found[1]["replay"]) == (2, "truncated", "r2")
    assert (found[1]["nextAttemptAt"], len(found[1]["detail"])) == (4_600, 2_000)
    assert (found[2]["attempts"], found[2]["doneAt"], found[2]["replay"]) == (0, 1_000_500, "r2")
    assert not {"doneAt", "expiresAt"} & set(found[1])
    assert found[2]["expiresAt"] == 1_000 + 30 * 86_400
    assert "nextAttemptAt" not in found[2]


@pytest.mark.parametrize("is_made_twice", [True, False])
def test_a_count_of_an_earlier_replay_that_comes_late_hides_no_failure(
    open_table: _Open,
    replaying: ErrorTable,
    read_rows: _Rows,
    monkeypatch: pytest.MonkeyPatch,
    is_made_twice: bool,
) -> None:
    """A call that was cut off may still have its effect after it was made again, or given up."""
    open_table().keep([_record(1)])
    call_each, late = DynamoDbClient.call_each, list[bytes]()

    def send(client: DynamoDbClient, operation: str, bodies: Any) -> Any:
        (body,) = bodies
        if b'"r1"' in body:
            late.append(body)
            if not is_made_twice:
                raise SinkUnavailableError("cut off")
        if b'"r2"' in body and not is_made_twice and late:
            list(call_each(client, operation, [late.pop()]))
        return call_each(client, operation, [body])

    monkeypatch.setattr(DynamoDbClient, "call_each", send)
    with nullcontext() if is_made_twice else pytest.raises(SinkUnavailableError):
        replaying.count_failures([_record(1)], "r1")
    replaying.count_failures([_record(1)], "r2")
    list(call_each(replaying._client, "UpdateItem", late))

    assert not replaying.mark_done(_record(1).id, "r2")
    (row,) = read_rows()
    assert (row["attempts"], row["replay"]) == (2, "r2")


def test_a_mark_that_comes_late_hides_no_later_failure(
    open_table: _Open, replaying: ErrorTable, read_rows: _Rows
) -> None:
    """Also if it is the mark of a replay whose record had failed, and which was refused before."""
    open_table().keep([_record(1)])
    for replay, tried in (("r1", 0), ("r2", 1)):
        replaying.count_failures([_record(1)], replay)
        assert _mark_tried(replaying, replay, tried) == [False]

    assert _mark_tried(replaying, "r1", 0) == [False]
    assert _mark_tried(replaying, "r3", 2) == [True]
    (row,) = read_rows()
    assert (row["attempts"], row["replay"]) == (2, "r3")


def test_a_mark_that_comes_late_parks_no_row_that_was_opened_again(
    open_table: _Open, replaying: ErrorTable, read_rows: _Rows, stored_table: Any
) -> None:
    open_table().keep([_record(1)])
    for replay in ("r1", "r2", "r3"):
        replaying.count_failures([_record(1)], replay)
    (tried,) = replaying.read([_record(1).id])
    park = partial(replaying.mark_all_parked, [tried], ["s3://parked/1"], "r3")
    assert park() == [True]
    stored_table.update_item(
        Key={"id": _record(1).id},
        UpdateExpression="SET attempts = :none REMOVE parkedAt",
        ExpressionAttributeValues={":none": 0},
    )

    assert park() == [False]
    (row,) = read_rows()
    assert "parkedAt" not in row


def test_a_failure_counts_in_the_rows_of_function_and_job_and_in_no_other(
    open_table: _Open, replaying: ErrorTable, read_rows: _Rows
) -> None:
    failed = _record(1)
    stages = ("lambda", "spark", "join")
    open_table().keep([replace(failed, stage=stage) for stage in stages])

    for _ in range(2):
        replaying.count_failures([replace(failed, stage="spark")], "r1")

    assert {row["stage"]: row["attempts"] for row in read_rows()} == {
        "lambda": 1, "spark": 1, "join": 0,
    }  # fmt: skip
    assert [*replaying.find(Selection())] == [["my/sensor/3/1/7", "my/sensor/3/1/7/spark"]]


def test_a_replay_of_one_owners_reason_leaves_the_reason_of_the_other(
    open_table: _Open, replaying: ErrorTable, read_rows: _Rows
) -> None:
    of_function = _record(1, reason=Reason.OVERSIZE, detail="too large")
    of_job = replace(_record(1, reason=Reason.SCHEMA_CONFLICT), stage="spark")
    open_table().keep([of_function, of_job])
    asked = Selection(reasons=frozenset({Reason.SCHEMA_CONFLICT}))
    assert [*replaying.find(asked)] == [[of_job.id]]

    failed = replace(_record(1, reason=Reason.LOSSY_WIDENING), stage="spark")
    replaying.count_failures([failed], "r1", asked)
    assert {(row["stage"], row["reason"], int(row["attempts"])) for row in read_rows()} == {
        ("lambda", "oversize", 0),
        ("spark", "lossy-widening", 1),
    }
    replaying.mark_done(of_job.id, "r2")

    assert [*replaying.find(Selection())] == [[of_function.id]]
    (letter,) = replaying.read([of_function.id])
    (other,) = replaying.describe_others(letter)
    assert (other.id, other.reason, other.settled) == (of_job.id, "lossy-widening", True)


def test_a_parked_row_says_where_and_waits_no_more(
    open_table: _Open, replaying: ErrorTable, read_rows: _Rows
) -> None:
    open_table().keep([_record(1)])
    replaying.count_failures([_record(1)], "r1")
    replaying.mark_parked(_record(1).id, "s3://parked/records/1", "r1")

    (row,) = read_rows()
    assert row["parkedAt"] == "s3://parked/records/1"
    assert row["expiresAt"] == 1_000 + 30 * 86_400
    assert "nextAttemptAt" not in row
    assert not replaying.mark_done(_record(1).id, "r2")
    # The index of those that are due is late at times: whoever reads the row sees it.
    assert [Selection().matches(each) for each in replaying.read([row["id"]])] == [False]


def test_a_mark_whose_answer_was_lost_counts_once_more_for_its_own_replay_alone(
    open_table: _Open, replaying: ErrorTable
) -> None:
    open_table().keep([_record(1)])
    replaying.count_failures([_record(1)], "r1")
    park = partial(replaying.mark_parked, _record(1).id)

    assert park("s3://parked/1", "r1", 1)
    assert park("s3://parked/1", "r1", 1)
    assert not park("s3://parked/1", "r2", 1)
    assert not park("s3://parked/2", "r1", 1)


def test_a_row_that_is_open_never_expires(
    open_table: _Open, replaying: ErrorTable, read_rows: _Rows, stored_table: Any
) -> None:
    """Also one that a hand has opened again, and not all the way."""
    open_table().keep([_record(1)])
    replaying.mark_parked(_record(1).id, "s3://parked/records/1", "r1")
    stored_table.update_item(Key={"id": _record(1).id}, UpdateExpression="REMOVE parkedAt")
    replaying.count_failures([_record(1)], "r2")

    (row,) = read_rows()
    assert (row["attempts"], "nextAttemptAt" in row, "expiresAt" in row) == (1, True, False)


def test_unprocessed_keys_are_read_again(api: DynamoDbApi, dynamodb: DynamoDbClient) -> None:
    item = {
        "id": {"S": "t/0/1/7"},
        "kafkaTimestamp": {"N": "7"},
        "reason": {"S": "truncated"},
        "value": {"B": "AP8="},
    }
    left = {"t": {"Keys": [{"id": {"S": "t/0/1/7"}}]}}
    api.replies += [
        Reply(body=json.dumps({"Responses": {}, "UnprocessedKeys": left}).encode()),
        Reply(body=json.dumps({"Responses": {"t": [item]}}).encode()),
    ]
    (found,) = ErrorTable(dynamodb, "t", None).read(["t/0/1/7"])  # type: ignore[arg-type]

    assert found.value == b"\0\xff"
    assert api.requests[1]["RequestItems"]["t"]["Keys"] == left["t"]["Keys"]


@pytest.mark.parametrize(
    "odd",
    [
        {},
        {"Responses": None},
        {"Responses": {"t": [{"id": {"X": "t/0/1/7"}}]}},
        {"Responses": {"t": [{"id": {}}]}},
        {"Responses": {"t": [{"n": {"N": "many"}}]}},
    ],
    ids=str,
)
def test_a_response_of_another_shape_is_unavailable(
    api: DynamoDbApi, dynamodb: DynamoDbClient, odd: Any
) -> None:
    api.otherwise = lambda _: Reply(body=json.dumps(odd).encode())

    with pytest.raises(SinkUnavailableError, match="an answer that cannot be read: "):
        list(ErrorTable(dynamodb, "t", None).read(["t/0/1/7"]))  # type: ignore[arg-type]


def test_keys_that_stay_unprocessed_are_an_error(
    api: DynamoDbApi, dynamodb: DynamoDbClient
) -> None:
    left = {"t": {"Keys": [{"id": {"S": "t/0/1/7"}}]}}
    answer = json.dumps({"Responses": {}, "UnprocessedKeys": left}).encode()
    api.otherwise = lambda _: Reply(body=answer)

    with pytest.raises(SinkUnavailableError, match="left 1 rows of table t unread for 10 s"):
        list(ErrorTable(dynamodb, "t", None).read(["t/0/1/7"]))  # type: ignore[arg-type]


def test_pages_are_read_to_their_end(api: DynamoDbApi, dynamodb: DynamoDbClient) -> None:
    item = {"id": {"S": "t/0/1/7"}, "kafkaTimestamp": {"N": "7"}, "reason": {"S": "truncated"}}
    last = {"id": {"S": "t/0/1/7"}}
    api.replies += [
        Reply(body=json.dumps({"Items": [item], "LastEvaluatedKey": last}).encode()),
        Reply(body=json.dumps({"Items": [item | {"id": {"S": "t/0/2/7"}}]}).encode()),
    ]

    api.otherwise = lambda _: Reply(body=b'{"Items": []}')

    found = ErrorTable(dynamodb, "t", None).find(Selection())  # type: ignore[arg-type]

    assert [*found] == [["t/0/1/7", "t/0/2/7"]]
    assert api.requests[1]["ExclusiveStartKey"] == last
    # Those of the function, then those of the job, both as they are kept beside the raw bytes.
    stages = [request["ExpressionAttributeValues"] for request in api.requests]
    assert stages == [{":stage": {"S": stage}} for stage in ("lambda", "lambda", "spark")]
    assert {request["IndexName"] for request in api.requests} == {"due"}
