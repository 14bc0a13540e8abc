"""A row gives way to a newer one only, in whatever order and however often records arrive."""

from __future__ import annotations

import random
import secrets
from collections.abc import Iterator
from typing import Any

import boto3
import pytest

from localcloud.cloud import Cloud
from penstock.errors import RowTooLargeError, SinkRefusedError
from penstock.records import Mode, Record, RowShape, Source, Tombstone, make_deletion, make_row
from penstock.sinks import DynamoDbClient, UpsertWriter, open_table
from penstock.sinks.row_writers import TableWriter
from systems.sessions import make_session
from systems.tables import make_table

_BY_VERSION = RowShape(
    ("orderId",), sort_name=None, event_time=None, order=("version",), mode=Mode.UPSERT
)
_BY_OFFSET = RowShape(
    ("orderId",), sort_name=None, event_time=None, mode=Mode.UPSERT, tombstone=Tombstone.DELETE
)


@pytest.fixture
def table(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    session = boto3.Session("111111111111", "any", region_name="eu-central-1")
    monkeypatch.setenv("AWS_ENDPOINT_URL", cloud.endpoint)
    table = make_table(session.resource("dynamodb"), f"t-{secrets.token_hex(4)}", "orderId")
    yield table
    table.delete()


@pytest.fixture
def dynamodb(table: Any) -> Iterator[DynamoDbClient]:
    client = DynamoDbClient(make_session("111111111111"))
    yield client
    client.close()


def _rows(table: Any) -> dict[str, dict[str, Any]]:
    return {row["orderId"]: row for row in table.scan()["Items"]}


def _row(key: str, offset: int, shape: RowShape = _BY_VERSION, **event: Any) -> dict[str, Any]:
    record = Record(Source("orders", 0, offset), None, None)
    return make_row(shape, {"orderId": key} | event, record, 1, "id")


@pytest.mark.parametrize("shape", [_BY_VERSION, _BY_OFFSET], ids=["by version", "by offset"])
def test_an_older_record_never_overwrites_a_newer_one(
    table: Any, dynamodb: DynamoDbClient, shape: RowShape, seeded: random.Random
) -> None:
    rng = seeded
    sent = []
    for offset in range(60):
        key = f"o-{rng.randrange(5)}"
        if shape is _BY_OFFSET and rng.random() < 0.2:
            sent.append(
                make_deletion(shape, Record(Source("orders", 0, offset), key.encode(), None))
            )
        else:
            version = rng.choice([rng.randrange(4), rng.randrange(4) + 0.5, 2**53 + 1])
            sent.append(_row(key, offset, shape, version=version, said=offset))
    newest: dict[str, dict[str, Any]] = {}
    for row in sent:  # in the order of offsets: of equal versions the later one wins
        if shape is _BY_OFFSET or row["version"] >= newest.get(row["orderId"], row)["version"]:
            newest[row["orderId"]] = row
    writer = open_table(dynamodb, table.name, shape)

    arriving = sent + rng.choices(sent, k=30)  # some of them again
    rng.shuffle(arriving)
    while arriving:
        size = rng.randrange(1, 12)
        batch, arriving = arriving[:size], arriving[size:]
        assert writer.write(batch) == {}

    found = {key: row["_source"] for key, row in _rows(table).items()}
    assert found == {key: row["_source"] for key, row in newest.items()}
    deleted = {key for key, row in _rows(table).items() if row.get("_deleted")}
    assert deleted == {key for key, row in newest.items() if "_deleted" in row}


def test_a_rejected_row_does_not_stop_the_others(table: Any, dynamodb: DynamoDbClient) -> None:
    writer = UpsertWriter(dynamodb, table.name, _BY_VERSION)
    rows = [
        _row("a", 0, version=1),
        _row("b", 1, version=1, text="x" * 410_000),
        _row("c", 2, version=1, number=10**40),
        _row("d", 3, version=1),
    ]

    refused = writer.write(rows)

    kinds = {place: type(error) for place, error in refused.items()}
    assert kinds == {1: RowTooLargeError, 2: SinkRefusedError}
    assert _rows(table).keys() == {"a", "d"}


def test_if_the_newest_row_of_a_key_is_rejected_the_one_before_it_stays(
    table: Any, dynamodb: DynamoDbClient
) -> None:
    rows = [
        _row("a", 0, version=1),
        _row("a", 1, version=2),
        _row("a", 2, version=3, text="x" * 410_000),
    ]

    refused = UpsertWriter(dynamodb, table.name, _BY_VERSION).write(rows)

    assert refused.keys() == {2}
    assert _rows(table)["a"]["version"] == 2


def test_a_row_without_an_order_gives_way(table: Any, dynamodb: DynamoDbClient) -> None:
    table.put_item(Item={"orderId": "a", "said": "by hand"})

    UpsertWriter(dynamodb, table.name, _BY_VERSION).write([_row("a", 0, version=1)])

    assert "said" not in _rows(table)["a"]


def test_the_mode_chooses_the_writer(dynamodb: DynamoDbClient) -> None:
    assert isinstance(open_table(dynamodb, "t", _BY_VERSION), UpsertWriter)
    assert isinstance(open_table(dynamodb, "t", RowShape()), TableWriter)
