"""Both zips in two accounts: events through a real broker, and rows at the other end."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest

from localcloud.brokers import BrokerCluster
from localcloud.cloud import Cloud
from tests.fixtures.functions import RUNTIME, allow, deploy, invoke, make_role, wait_until
from tests.fixtures.mappings import Topic, broker, mapped
from tools.build_zip import build
from tools.lambda_packages import Target

__all__ = ["broker"]

pytestmark = pytest.mark.kafka

_CONSUMER = "222222222222"
_REGION = "eu-central-1"
_EVENTS = Path(__file__).parents[2] / "lambdas/producer/events"
Client = Callable[..., Any]


@pytest.fixture(scope="module")
def zips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The zips for this machine."""
    folder = tmp_path_factory.mktemp("zips")
    build(Target.of_host(), folder)
    return folder


@dataclass
class Story:
    """A producer in one account and a consumer in another, with all that they need."""

    cloud: Cloud
    client: Client
    topic: Topic
    producer: str
    consumer: str
    reader: str
    tables: Any

    def produce(self, name: str) -> tuple[Any, str | None]:
        """Invoke the producer with one of its events."""
        return invoke(
            self.client, self.producer, json.loads((_EVENTS / f"{name}.json").read_text())
        )

    def rows(self, table: str) -> list[dict[str, Any]]:
        """All rows of a table."""
        return self.tables.Table(f"{self.topic.name}-{table}").scan()["Items"]

    def elsewhere(self, service: str, **settings: Any) -> Any:
        """A client of the consumer's account."""
        return self.client(service, **({"account": _CONSUMER} | settings))


@pytest.fixture
def story(cloud: Cloud, client: Client, broker: BrokerCluster, zips: Path) -> Iterator[Story]:
    name = f"sensor-{secrets.token_hex(4)}"
    client("glue").create_registry(RegistryName=name)
    story = Story(cloud, client, Topic(broker, name), "", "", "", _make_tables(cloud, name))
    producer = make_role(client)
    allow(client, producer, "glue:*")
    servers = broker.bootstrap_servers("PLAINTEXT")
    story.producer = deploy(
        client,
        **_package(zips / "producer-lambda.zip"),
        Role=producer,
        Environment={
            "Variables": {
                "KAFKA_BOOTSTRAP_SERVERS": servers,
                "KAFKA_SECURITY": "plaintext",
                "PENSTOCK_REGISTRY": f"glue://{name}?region={_REGION}",
                "PENSTOCK_TOPIC": name,
            }
        },
    )
    consumer = make_role(story.elsewhere)
    story.reader = _make_reader(client, consumer)
    allow(story.elsewhere, consumer, "dynamodb:BatchWriteItem")
    allow(story.elsewhere, consumer, "sts:AssumeRole")
    reader = f"glue://{name}?region={_REGION}&role_arn={story.reader}&external_id=known"
    story.consumer = deploy(
        story.elsewhere,
        **_package(zips / "consumer-lambda.zip"),
        Role=consumer,
        Environment={
            "Variables": {
                "PENSTOCK_REGISTRY": reader,
                "PENSTOCK_READINGS_TABLE": f"{name}-readings",
                "PENSTOCK_ERRORS_TABLE": f"{name}-errors",
            }
        },
    )
    yield story
    client("lambda").delete_function(FunctionName=story.producer)
    story.elsewhere("lambda").delete_function(FunctionName=story.consumer)


def _package(path: Path) -> dict[str, Any]:
    return {
        "Code": {"ZipFile": path.read_bytes()},
        "Handler": "handler.lambda_handler",
        "Runtime": RUNTIME,
        "Timeout": 30,
        "MemorySize": 512,
    }


def _make_reader(client: Client, of: str) -> str:
    """Make the role that lets the consumer's function read schemas, if it knows the word."""
    trust = {
        "Version": "2012-10-17",
        "Statement": {
            "Effect": "Allow",
            "Principal": {"AWS": f"arn:aws:iam::{_CONSUMER}:root"},
            "Action": "sts:AssumeRole",
            "Condition": {
                "StringEquals": {"sts:ExternalId": "known"},
                "ArnEquals": {"aws:PrincipalArn": of},
            },
        },
    }
    role = client("iam").create_role(
        RoleName=f"reader-{secrets.token_hex(4)}", AssumeRolePolicyDocument=json.dumps(trust)
    )["Role"]["Arn"]
    allow(client, role, "glue:GetSchemaVersion")
    return role


def _make_tables(cloud: Cloud, name: str) -> Any:
    session = boto3.Session(_CONSUMER, "any", region_name=_REGION)
    tables = session.resource("dynamodb", endpoint_url=cloud.endpoint)
    keys = {"readings": {"deviceId": "HASH", "readingId": "RANGE"}, "errors": {"id": "HASH"}}
    for table, key in keys.items():
        tables.create_table(
            TableName=f"{name}-{table}",
            BillingMode="PAY_PER_REQUEST",
            KeySchema=[{"AttributeName": each, "KeyType": kind} for each, kind in key.items()],
            AttributeDefinitions=[{"AttributeName": each, "AttributeType": "S"} for each in key],
        )
    return tables


def test_events_become_rows_in_another_account(story: Story) -> None:
    said = [story.produce(name)[0] for name in ("empty", "add_temperature", "empty", "nested")]
    refused, error = story.produce("contradict_temperature")

    assert [(each["partition"], each["offset"]) for each in said] == [(0, at) for at in range(4)]
    assert [each["schema"]["version"] for each in said] == [1, 2, 1, 3]
    assert said[1]["schema"]["diff"] == ["+ temperature: long (optional)"]
    assert (error, refused["errorType"]) == ("Unhandled", "SchemaConflictError")
    story.topic.send("not framed")

    with mapped(story.elsewhere, story.consumer, story.topic):
        wait_until("four readings and an error", lambda: len(story.rows("errors")) == 1)

    rows = sorted(story.rows("readings"), key=lambda row: row["_source"])
    assert [row["_schema"] for row in rows] == [1, 2, 1, 3]
    assert [row.get("temperature") for row in rows] == [None, 30, None, None]
    assert rows[3]["samples"] == [{"at": 1, "value": pytest.approx(0.5)}, {"at": 2}]
    (error_row,) = story.rows("errors")
    assert error_row["id"] == f"{story.topic.name}/0/4"
    assert error_row["reason"] == "unknown-framing"
    assert error_row["value"].value == b"not framed"


def test_without_the_reader_role_nothing_is_given_up(story: Story) -> None:
    story.produce("empty")
    name = story.reader.split("/")[1]
    policies = story.client("iam").list_role_policies(RoleName=name)["PolicyNames"]
    story.client("iam").delete_role_policy(RoleName=name, PolicyName=policies[0])

    with mapped(story.elsewhere, story.consumer, story.topic) as identity:
        wait_until(
            "the batch fails",
            lambda: (
                "PROBLEM"
                in story.elsewhere("lambda").get_event_source_mapping(UUID=identity)[
                    "LastProcessingResult"
                ]
            ),
        )
        assert story.rows("readings") == story.rows("errors") == []
        allow(story.client, story.reader, "glue:GetSchemaVersion")
        wait_until("the reading arrives", lambda: len(story.rows("readings")) == 1)

    assert story.rows("errors") == []
