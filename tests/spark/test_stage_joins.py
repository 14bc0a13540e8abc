"""A staging job joins shipments with the rows that they need, and retries join what came late."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from itertools import chain

import boto3
import pytest

from demo.staging.publisher import SCHEMAS, Publisher
from penstock.kafka import Message, Security, open_producer
from tests.fixtures.brokers import PRODUCER, logged_in
from tests.fixtures.shop import RETRY_SECONDS, Shop
from tests.spark.records import frame
from tests.spark.test_stage import database, folders, stage

__all__ = ["database", "folders", "stage"]

_BATCHES = ((0, 2), (2, 6), (6, 8))  # the ticks of each; what comes later comes after the retries


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
def topics(stage):
    return {table: stage.add_topic() for table in SCHEMAS}


@pytest.fixture
def shop(stage, topics, bucket, cloud, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", cloud.endpoint)
    errors = stage.database.Table(stage.settings.errors_table)
    with closing(Shop(stage.database, stage.name, topics, errors, bucket)) as shop:
        stage.errors = None  # those of the settings
        stage.settings = replace(
            stage.settings,
            waiting_table=shop.waiting.name,
            parked_bucket=bucket.name,
            retry_seconds=RETRY_SECONDS,
        )
        yield shop


@pytest.fixture
def send(stage, topics, shop):
    """Write changes to the topics of their tables, in order."""
    versions = {
        (table, number): stage.register(schema, table)
        for table, schemas in SCHEMAS.items()
        for number, schema in enumerate(schemas, 1)
    }

    def send(changes):
        messages = [
            Message(
                topics[each.table],
                each.row and frame(versions[each.table, each.version], each.row),
                each.key.encode(),
            )
            for each in changes
        ]
        settings = stage.kafka.settings(Security.IAM)
        with logged_in(stage.kafka, PRODUCER), closing(open_producer(settings)) as producer:
            producer.send_all(messages)
        shop.take(changes)

    return send


def test_late_rows_release_shipments_and_the_rest_is_parked(stage, shop, send, capfd):
    ticks = list(Publisher(3, 120, ticks=2).publish())
    query = stage.start(shop.plan, trigger="200 milliseconds")
    try:
        for first, last in _BATCHES:
            send([*chain(*ticks[first:last])])
            query.processAllAvailable()
        shop.retry_all()
        send([*chain(*ticks[_BATCHES[-1][1] :])])
        query.processAllAvailable()
    finally:
        query.stop()

    finals, parked = shop.check()
    assert finals > parked > 0
    lines = [json.loads(line) for line in capfd.readouterr().out.splitlines() if line[:1] == "{"]
    told = {name: sum(line.get(name, 0) for line in lines) for name in (
        "RecordsJoined", "RecordsReleased", "RecordsDelayed"
    )}  # fmt: skip
    assert told["RecordsDelayed"] == told["RecordsReleased"] + parked
    assert told["RecordsJoined"] + told["RecordsReleased"] >= finals
