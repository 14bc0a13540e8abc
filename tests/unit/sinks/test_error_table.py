"""A record that was given up is kept once, whole, whatever its size."""

from __future__ import annotations

import json
import time
from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from penstock.errors import (
    Failure,
    Reason,
    RowTooLargeError,
    SinkAccessDeniedError,
    SinkRefusedError,
    SinkUnavailableError,
)
from penstock.records import FailedRecord, Record, Source
from penstock.sinks import DynamoDbClient, ErrorTable, Selection
from tests.stubs.dynamodb_api import DynamoDbApi, Reply, refusal


@dataclass
class FakeBucket:
    """A bucket in memory."""

    down: Exception | None = None
    objects: dict[str, bytes] = field(default_factory=dict)

    def put(self, name: str, content: bytes) -> str:
        """Keep it, unless the bucket is down."""
        if self.down:
            raise self.down
        self.objects[name] = content
        return f"s3://parked/{name}"

    def log(self) -> list[dict[str, Any]]:
        """Return the lines of the log, which the other objects are not part of."""
        logged = [self.objects[name] for name in self.objects if name.startswith("dead-letters/")]
        return [json.loads(line) for each in logged for line in each.splitlines()]


@pytest.fixture
def bucket() -> FakeBucket:
    return FakeBucket()


@pytest.fixture
def table(dynamodb: DynamoDbClient, bucket: FakeBucket) -> ErrorTable:
    return ErrorTable(dynamodb, "errors", bucket)


def _record(offset: int = 41, **changes: Any) -> FailedRecord:
    """Give a record up, as it is named or otherwise."""
    values: dict[str, Any] = {
        "reason": Reason.TRUNCATED,
        "detail": "ends too early",
        "schema": None,
        "key": b"k",
        "value": b"v",
        "headers": (),
        "kafka_timestamp_ms": 7,
        "first_seen_ms": 1795234015788,
    } | changes
    raw = (values["key"], values["value"], values["headers"])
    record = Record(Source("sensor", 3, offset), *raw, values["kafka_timestamp_ms"])
    failure = Failure(values["reason"], values["detail"])
    return FailedRecord(record, failure, values["schema"], "lambda", values["first_seen_ms"])


def test_a_row_is_put_where_there_is_none(api: DynamoDbApi, table: ErrorTable) -> None:
    table.keep([_record()])

    (request,) = api.requests
    assert api.headers[0]["X-Amz-Target"] == "DynamoDB_20120810.PutItem"
    assert request == {
        "TableName": "errors",
        "Item": {
            "id": {"S": "sensor/3/41/7"},
            "kafkaTimestamp": {"N": "7"},
            "reason": {"S": "truncated"},
            "detail": {"S": "ends too early"},
            "key": {"B": b64encode(b"k").decode()},
            "value": {"B": b64encode(b"v").decode()},
            "firstSeen": {"N": "1795234015788"},
            "attempts": {"N": "0"},
            "stage": {"S": "lambda"},
            "nextAttemptAt": {"N": "1795234015"},
        },
        "ConditionExpression": "attribute_not_exists(id) OR attribute_exists(doneAt)",
    }


def test_a_row_that_is_there_stays_and_the_others_are_put(
    api: DynamoDbApi, table: ErrorTable
) -> None:
    api.replies = [Reply(), refusal("ConditionalCheckFailedException"), Reply()]

    table.keep([_record(offset) for offset in range(3)])

    ids = sorted(request["Item"]["id"]["S"] for request in api.requests)
    assert ids == [f"sensor/3/{offset}/7" for offset in range(3)]
    # DynamoDB refuses what is there by this condition alone.
    conditions = {request["ConditionExpression"] for request in api.requests}
    assert conditions == {"attribute_not_exists(id) OR attribute_exists(doneAt)"}


def test_the_log_has_each_dead_letter_without_its_bytes(
    api: DynamoDbApi, table: ErrorTable, bucket: FakeBucket
) -> None:
    api.replies = [Reply(), refusal("ConditionalCheckFailedException")]  # the second is there

    table.keep([_record(), _record(42, reason=Reason.UNMET_DEPENDENCY)])

    first, second = bucket.log()
    assert first == {
        "id": "sensor/3/41/7",
        "topic": "sensor",
        "kafka_partition": 3,
        "kafka_offset": 41,
        "kafka_timestamp": 7,
        "reason": "truncated",
        "detail": "ends too early",
        "schema_id": None,
        "first_seen": 1795234015788,
        "stage": "lambda",
        "driver": None,
        "waiting_for": [],
        "error_table": "errors",
    }
    assert (second["id"], second["reason"]) == ("sensor/3/42/7", "unmet-dependency")


def test_a_batch_that_comes_again_is_the_same_object_of_the_log(
    table: ErrorTable, bucket: FakeBucket
) -> None:
    for _ in range(2):
        table.keep([_record(), _record(42)])
    table.keep([_record()])
    table.keep([])

    assert [len(content.splitlines()) for content in bucket.objects.values()] == [2, 1]


def test_tables_that_share_a_bucket_have_objects_of_their_own_in_the_log(
    dynamodb: DynamoDbClient, bucket: FakeBucket
) -> None:
    for name in ("errors", "errors-latest"):  # two functions give up the same record
        ErrorTable(dynamodb, name, bucket).keep([_record()])

    assert [line["error_table"] for line in bucket.log()] == ["errors", "errors-latest"]


def test_a_dead_letter_without_its_line_is_not_kept(
    api: DynamoDbApi, table: ErrorTable, bucket: FakeBucket
) -> None:
    bucket.down = SinkUnavailableError("down")

    with pytest.raises(SinkUnavailableError):
        table.keep([_record()])

    assert api.requests == []


_LARGE = {
    "value": ({"value": b"v" * 400_000}, {"value"}),
    "just fits": ({"value": b"v" * 389_000}, set()),
    "headers": ({"headers": (("h", b"x" * 400_000),)}, {"headers"}),
    "many headers": ({"headers": (("", None),) * 20_000}, {"headers"}),
    "key": ({"key": b"k" * 400_000}, {"key"}),
    "together": ({"key": b"k" * 200_000, "value": b"v" * 200_000}, {"value"}),
    "all": (
        {"key": b"k" * 500_000, "value": b"v" * 500_000, "headers": (("h", b"x" * 500_000),)},
        {"value", "headers", "key"},
    ),
    "no value": ({"key": b"k" * 400_000, "value": None}, {"key"}),
    "empty value": ({"key": b"k" * 400_000, "value": b""}, {"key"}),
}


@pytest.mark.parametrize("name", _LARGE)
def test_bytes_that_do_not_fit_in_a_row_go_to_the_bucket(
    api: DynamoDbApi, table: ErrorTable, bucket: FakeBucket, name: str
) -> None:
    changes, parked = _LARGE[name]
    record = _record(**changes)

    table.keep([record])

    (request,) = api.requests
    item = request["Item"]
    raw = {name for name in bucket.objects if not name.startswith("dead-letters/")}
    assert raw == {f"errors/sensor/3/41/7/{part}" for part in parked}
    assert {part for part in ("key", "value", "headers") if f"{part}At" in item} == parked
    for part in parked:
        assert part not in item
        assert item[f"{part}At"]["S"] == f"s3://parked/errors/sensor/3/41/7/{part}"
    for part in {"key", "value"} & parked:
        assert bucket.objects[f"errors/sensor/3/41/7/{part}"] == getattr(record.record, part)
    if "headers" in parked:
        written = json.loads(bucket.objects["errors/sensor/3/41/7/headers"])
        assert _read_headers(written) == record.record.headers


def _read_headers(written: list[dict[str, Any]]) -> tuple[tuple[str, bytes | None], ...]:
    return tuple(
        (each["name"], None if each["value"] is None else b64decode(each["value"]))
        for each in written
    )


@pytest.mark.parametrize("kind", [SinkUnavailableError, SinkAccessDeniedError])
def test_without_the_bucket_no_row_points_to_nothing(
    api: DynamoDbApi, table: ErrorTable, bucket: FakeBucket, kind: type[Exception]
) -> None:
    bucket.down = kind("down")

    with pytest.raises(kind):
        table.keep([_record(value=b"v" * 400_000)])

    assert api.requests == []


def test_a_table_outage_is_raised(api: DynamoDbApi, table: ErrorTable) -> None:
    api.otherwise = lambda _: refusal("ThrottlingException")

    with pytest.raises(SinkUnavailableError, match="DynamoDB's PutItem failed for 10 s: Throttl"):
        table.keep([_record()])


@pytest.mark.parametrize(
    ("message", "kind"),
    [("no such value", SinkRefusedError), ("Item size has exceeded", RowTooLargeError)],
)
def test_a_record_that_no_row_can_hold_is_named(
    api: DynamoDbApi, table: ErrorTable, message: str, kind: type[Exception]
) -> None:
    api.otherwise = lambda _: refusal("ValidationException", message)

    with pytest.raises(kind) as caught:
        table.keep([_record()])

    assert str(caught.value) == (
        "sensor/3/41 cannot be written as a dead letter: DynamoDB's PutItem was refused: "
        f"ValidationException: {message}"
    )


# --- a real table and bucket ----------------------------------------------------------------


def test_the_first_row_is_kept_in_a_real_table(
    open_table: Callable[..., ErrorTable], read_rows: Callable[[], list[dict[str, Any]]]
) -> None:
    open_table().keep([_record()])
    open_table().keep([_record(first_seen_ms=1795234099999, detail="again"), _record(42)])

    rows = sorted(read_rows(), key=lambda row: str(row["id"]))
    assert [(row["id"], int(row["firstSeen"]), row["detail"]) for row in rows] == [
        ("sensor/3/41/7", 1795234015788, "ends too early"),
        ("sensor/3/42/7", 1795234015788, "ends too early"),
    ]


def test_a_second_delivery_counts_no_retry_away(
    open_table: Callable[..., ErrorTable], read_rows: Callable[[], list[dict[str, Any]]]
) -> None:
    open_table().keep([_record()])
    open_table().count_failures([_record()], "r1")

    open_table().keep([_record()])

    (row,) = read_rows()
    assert (row["attempts"], row["replay"]) == (1, "r1")


@pytest.mark.parametrize("stage", ["lambda", "spark", "join"])
def test_a_row_that_is_done_is_open_again_when_its_record_fails_again(
    open_table: Callable[..., ErrorTable], read_rows: Callable[[], list[dict[str, Any]]], stage: str
) -> None:
    """So it is if its tables are built again: else the record would be in none of them."""
    done, parked = (replace(_record(offset), stage=stage) for offset in (41, 42))
    open_table().keep([done, parked])
    open_table().count_failures([done], "r1")
    open_table().mark_done(done.id, "r2")
    open_table().mark_parked(parked.id, "s3://b/r", "r2")
    before = {row["id"]: row for row in read_rows()}

    again = [
        replace(each, first_seen_ms=1_795_234_099_999, failure=Failure(Reason.OVERSIZE, "again"))
        for each in (done, parked)
    ]
    open_table().keep(again)

    rows = {row["id"]: row for row in read_rows()}
    assert rows[parked.id] == before[parked.id]
    row = rows[done.id]
    assert (row["reason"], row["attempts"], row["nextAttemptAt"]) == ("oversize", 0, 1_795_234_099)
    assert not row.keys() & {"doneAt", "expiresAt", "replay"}
    assert done.id in {each.id for each in open_table().describe(Selection())}


def test_a_row_that_is_done_or_parked_is_kept_for_a_year(
    open_table: Callable[..., ErrorTable], read_rows: Callable[[], list[dict[str, Any]]]
) -> None:
    open_table().keep([_record(), _record(42)])
    began = int(time.time())

    open_table().mark_done(_record().id, "r1")
    open_table().mark_parked(_record(42).id, "s3://b/r", "r1")

    year = 365 * 86_400
    assert all(began + year <= row["expiresAt"] <= time.time() + year for row in read_rows())


def test_a_recreated_topic_has_rows_of_its_own(
    open_table: Callable[..., ErrorTable],
    read_rows: Callable[[], list[dict[str, Any]]],
    read_object: Callable[[str], bytes],
) -> None:
    old, new = _record(value=b"o" * 400_000), _record(value=b"n" * 400_000, kafka_timestamp_ms=9)

    open_table().keep([old, new])

    found = {int(row["kafkaTimestamp"]): read_object(row["valueAt"]) for row in read_rows()}
    assert found == {7: old.record.value, 9: new.record.value}


def test_a_large_value_is_found_in_a_real_bucket(
    open_table: Callable[..., ErrorTable],
    read_rows: Callable[[], list[dict[str, Any]]],
    read_object: Callable[[str], bytes],
) -> None:
    value = bytes(range(256)) * 4_000
    for _ in range(2):
        open_table().keep([_record(value=value, headers=(("", b"1"), ("h", None)))])

    (row,) = read_rows()
    assert read_object(row["valueAt"]) == value
    assert "value" not in row
    assert row["headers"] == [{"name": "", "value": b"1"}, {"name": "h", "value": None}]


@pytest.mark.parametrize(
    "headers", [(("", None),) * 9_000, (("é" * 100, b"x" * 1_800),) * 180, (("n", b""),) * 11_000]
)
def test_a_row_that_is_nearly_full_is_taken(
    open_table: Callable[..., ErrorTable],
    read_rows: Callable[[], list[dict[str, Any]]],
    headers: tuple[tuple[str, bytes | None], ...],
) -> None:
    record = _record(headers=headers, detail="é" * 2_000)

    open_table().keep([record])

    (row,) = read_rows()
    assert row["id"] == "sensor/3/41/7"


def test_a_bucket_that_is_not_there_is_unavailable(open_table: Callable[..., ErrorTable]) -> None:
    with pytest.raises(
        SinkUnavailableError,
        match=r"^s3://nowhere/errors/sensor/3/41/7/value cannot be written: .*NoSuchBucket",
    ):
        open_table("nowhere").keep_rows([_record(value=b"v" * 400_000)])
