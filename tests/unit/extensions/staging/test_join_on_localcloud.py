"""The same joins and retries over localcloud's DynamoDB and S3."""

from __future__ import annotations

import json
from collections.abc import Iterator

import boto3
import pytest

from localcloud.cloud import Cloud
from penstock.extensions.staging import JoinEvent
from penstock.sinks import DynamoDbClient, ObjectStore
from systems.error_tables import make_error_table
from systems.sessions import make_session
from systems.tables import make_table
from tests.unit.extensions.staging.joining import PLAN, World

_TRIP = {"trip": "t1", "buyer": "c1", "order": "o1", "line": 2}


@pytest.fixture
def world(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setenv("AWS_ENDPOINT_URL", cloud.endpoint)
    session = boto3.Session("111111111111", "any", region_name="eu-central-1")
    database, s3 = session.resource("dynamodb"), session.resource("s3")
    keys = {"customers": ["customer"], "lines": ["id"], "trips": ["trip"], "done": ["trip"]}
    made = [
        make_table(database, name, *names)
        for name, names in [
            *((f"p-{table}", names) for table, names in keys.items()),
            ("waiting", ["waitingFor", "driver"]),
        ]
    ]
    made.append(make_error_table(database, "errors"))
    bucket = s3.create_bucket(
        Bucket="joined-parked",
        CreateBucketConfiguration={"LocationConstraint": "eu-central-1"},
    )
    client = DynamoDbClient(make_session("111111111111"))
    yield World(client, PLAN, ObjectStore(bucket.name, make_session("111111111111")))
    client.close()
    for table in made:
        table.delete()
    bucket.objects.delete()
    bucket.delete()


def test_drivers_wait_are_released_retried_and_parked(world: World) -> None:
    trips = [(_TRIP | {"trip": f"t{n}", "buyer": f"c{n}"}, n) for n in range(3)]
    world.stage("lines", [({"order": "o1", "line": 2}, 1)])
    world.stage("customers", [({"customer": "c0"}, 1)])

    assert world.stage("trips", trips) == {JoinEvent.JOINED: 1, JoinEvent.WAITING: 2}
    assert world.stage("customers", [({"customer": "c1"}, 2)]) == {JoinEvent.RELEASED: 1}
    for delay in (60, 120, 240):
        world.now_s += delay
        counts = world.retry(f"at-{world.now_s}")
    assert (counts.parked, counts.notices, world.retry("again").parked) == (1, 1, 0)
    assert world.stage("customers", [({"customer": "c2"}, 3)]) == {}

    database = boto3.Session("111111111111", "any", region_name="eu-central-1").resource("dynamodb")
    assert {row["trip"] for row in database.Table("p-done").scan()["Items"]} == {"t0", "t1"}
    assert database.Table("waiting").scan()["Items"] == []
    errors = {row["driver"]: row for row in database.Table("errors").scan()["Items"]}
    assert "doneAt" in errors["trips/t1"]
    parked = json.loads(world.store.get(errors["trips/t2"]["parkedAt"]))
    assert (parked["waiting_for"], parked["attempts"]) == (["customers/c2"], 3)

    # The driver's tables are built again: its letter is opened again.
    for name, key in (("p-trips", "trip"), ("p-done", "trip"), ("p-customers", "customer")):
        for item in database.Table(name).scan()["Items"]:
            database.Table(name).delete_item(Key={key: item[key]})
    assert world.stage("trips", trips[1:2]) == {JoinEvent.WAITING: 1}
    assert world.stage("customers", [({"customer": "c1"}, 2)]) == {JoinEvent.RELEASED: 1}
