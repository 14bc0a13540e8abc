"""A staging job joins shipments with the rows that they need, and retries join what came late."""

from __future__ import annotations

import json
from contextlib import closing, contextmanager
from dataclasses import replace
from decimal import Decimal

import boto3
import pytest

from demo.staging.model import Model
from demo.staging.publisher import DRIVER, SCHEMAS, TABLES, Publisher
from penstock.kafka import Message, Security, open_producer
from penstock.sinks import DynamoDbClient, ObjectStore, ParkedRecords, UnjoinedTable
from penstock.staging import Joiner, Retries, WaitingTable, read_configuration
from tests.fixtures.brokers import PRODUCER, logged_in
from tests.spark.records import frame
from tests.spark.test_stage import database, folders, stage
from tests.stubs.sessions import make_session

__all__ = ["database", "folders", "stage"]

_DELAY = 1_000
_FIELDS = [each["name"] for each in SCHEMAS[DRIVER][0]["fields"]]
_NEEDS = [each["name"] for each in TABLES[-1]["dependencies"]]


class Shop:
    """The publisher's tables in Kafka and DynamoDB, and the job and the retries over them."""

    def __init__(self, stage, bucket):
        self.stage, self.bucket, self.tick = stage, bucket, 0
        self.topics = {each["name"]: stage.add_topic() for each in TABLES}
        tables = [each | {"topics": [self.topics[each["name"]]]} for each in TABLES]
        self.plan = read_configuration(json.dumps({"tables": tables}), {}).plan
        for table in self.plan.tables:
            stage.add_table(table.name, table.shape.key_attribute)
        stage.add_table("fulfilments", "shipment_id")
        keys = {"waitingFor": "HASH", "driver": "RANGE"}
        self.waiting = stage.database.create_table(
            TableName=f"{stage.name}-waiting",
            BillingMode="PAY_PER_REQUEST",
            KeySchema=[{"AttributeName": key, "KeyType": kind} for key, kind in keys.items()],
            AttributeDefinitions=[{"AttributeName": key, "AttributeType": "S"} for key in keys],
        )
        stage.settings = replace(
            stage.settings, waiting_table=self.waiting.name, parked_bucket=bucket.name
        )
        stage.errors = None  # those of the settings
        self.errors = stage.database.Table(stage.settings.errors_table)
        self.versions = {
            (name, number): stage.register(schema, name)
            for name, schemas in SCHEMAS.items()
            for number, schema in enumerate(schemas, 1)
        }

    def send(self, changes):
        """Write the changes of a tick to their topics, in order."""
        messages = [
            Message(
                self.topics[each.table],
                each.row and frame(self.versions[each.table, each.version], each.row),
                each.key.encode(),
            )
            for each in changes
        ]
        settings = self.stage.kafka.settings(Security.IAM)
        with logged_in(self.stage.kafka, PRODUCER), closing(open_producer(settings)) as producer:
            producer.send_all(messages)

    def now(self):
        return 1_000_000 + self.tick * _DELAY

    def unjoined(self):
        """The dead letters of joins."""
        return [row for row in self.errors.scan()["Items"] if row.get("stage") == "join"]

    def retry(self):
        """Run the retries that are due at this tick, after which dead letters are due as if
        the job had the same clock.
        """
        for row in self.unjoined():
            if row["attempts"] == 0 and row.get("nextAttemptAt", 0) > 10**9:
                self.errors.update_item(
                    Key={"id": row["id"]},
                    UpdateExpression="SET nextAttemptAt = :next",
                    ExpressionAttributeValues={":next": self.now() + _DELAY},
                )
        with closing(DynamoDbClient(make_session("111111111111"))) as client:
            store = ObjectStore(self.bucket.name, make_session("111111111111"))
            errors = UnjoinedTable(client, self.errors.name, store, _DELAY, clock=self.now)
            waiting = WaitingTable(client, self.waiting.name)
            joiner = Joiner(client, self.plan, self.stage.settings.dynamodb_table, waiting, errors)
            retries = Retries(joiner, ParkedRecords(store), f"tick-{self.tick}")
            return retries.run(self.now(), lambda: True)

    def finals(self):
        """The final rows as the model has them, None for one that is deleted."""
        rows = self.stage.rows("fulfilments", "shipment_id")
        return {
            key: None if row.get("_deleted") else {name: row[name] for name in _FIELDS}
            | {name: _fields(row[name]) for name in _NEEDS}
            for key, row in rows.items()
        }  # fmt: skip

    def check(self, model):
        """Compare everything with the model."""
        assert self.finals() == {
            key: row and {name: _decimals(value) for name, value in row.items()}
            for key, row in model.finals.items()
        }
        rows = self.unjoined()
        assert all("doneAt" in row or "parkedAt" in row for row in rows)
        parked = [row["driver"].split("/")[1] for row in rows if "parkedAt" in row]
        assert sorted(parked) == sorted(shipment for shipment, _ in model.parked)
        names = [each.key for each in self.bucket.objects.all()]
        assert sum(name.startswith("notices/") for name in names) == model.notices
        assert sum(name.startswith("records/") for name in names) == len(parked)
        assert self.waiting.scan()["Items"] == []


def _fields(row):
    return {name: row[name] for name in row if name not in ("staging_time", "line_id")}


def _decimals(value):
    """A value as boto3 reads it."""
    return json.loads(json.dumps(value), parse_float=Decimal)


@pytest.fixture
def bucket(cloud):
    session = boto3.Session("111111111111", "any", region_name="eu-central-1")
    where = {"LocationConstraint": "eu-central-1"}
    bucket = session.resource("s3", endpoint_url=cloud.endpoint).create_bucket(
        Bucket="staged-parked", CreateBucketConfiguration=where
    )
    yield bucket
    bucket.objects.delete()
    bucket.delete()


@pytest.fixture
def shop(stage, bucket, cloud, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", cloud.endpoint)
    return Shop(stage, bucket)


@contextmanager
def _running(query):
    try:
        yield query
    finally:
        query.stop()


def test_late_rows_release_shipments_and_the_rest_is_parked(shop, capfd):
    model = Model()
    with _running(shop.stage.start(shop.plan, trigger="200 milliseconds")) as query:
        for tick, changes in enumerate(Publisher(3, 120, ticks=2).publish()):
            shop.tick = tick
            if changes:
                shop.send(changes)
                query.processAllAvailable()
            shop.retry()
            model.take(tick, changes)

    shop.check(model)
    assert model.parked
    lines = [json.loads(line) for line in capfd.readouterr().out.splitlines() if line[:1] == "{"]
    told = {name: sum(line.get(name, 0) for line in lines) for name in (
        "RecordsJoined", "RecordsReleased", "RecordsDelayed"
    )}  # fmt: skip
    assert told["RecordsDelayed"] == told["RecordsReleased"] + len(model.parked)
    assert told["RecordsJoined"] + told["RecordsReleased"] >= len(model.finals)
