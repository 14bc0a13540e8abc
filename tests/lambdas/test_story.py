"""Both zips in two accounts: events through a real broker, and rows at the other end."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from localcloud.brokers import BrokerCluster
from localcloud.cloud import Cloud
from localcloud.testing import allow, deploy, invoke, make_role, wait_until
from localcloud.testing.mappings import Topic, mapped
from penstock.extensions.registry_copy.backups import export_schemas, import_schemas
from systems.consumers import (
    PRODUCER,
    REGION,
    Client,
    Consumer,
    build_consumer,
    package,
)
from tests.fixtures.accounts import ActAs

pytestmark = pytest.mark.kafka

_EVENTS = Path(__file__).parents[2] / "lambdas/producer/events"


@dataclass
class Story:
    """A producer in one account and a consumer in another, with all that they need."""

    client: Client
    topic: Topic
    producer: str
    consumer: Consumer

    def produce(self, name: str) -> tuple[Any, str | None]:
        """Invoke the producer with one of its events."""
        return invoke(
            self.client, self.producer, json.loads((_EVENTS / f"{name}.json").read_text())
        )


@pytest.fixture
def story(cloud: Cloud, client: Client, broker: BrokerCluster, zips: Path) -> Iterator[Story]:
    name = f"sensor-{secrets.token_hex(4)}"
    client("glue").create_registry(RegistryName=name)
    consumer = build_consumer(cloud, client, zips / "consumer-lambda.zip", name)
    story = Story(client, Topic(broker, name), "", consumer)
    client("s3").create_bucket(
        Bucket=f"{name}-rejected", CreateBucketConfiguration={"LocationConstraint": REGION}
    )
    producer = make_role(client)
    allow(client, producer, "glue:*")
    allow(client, producer, "s3:PutObject")
    servers = broker.bootstrap_servers("PLAINTEXT")
    story.producer = deploy(
        client,
        **package(zips / "producer-lambda.zip"),
        Role=producer,
        Environment={
            "Variables": {
                "KAFKA_BOOTSTRAP_SERVERS": servers,
                "KAFKA_SECURITY": "plaintext",
                "PENSTOCK_REGISTRY": f"glue://{name}?region={REGION}",
                "PENSTOCK_REJECTED_BUCKET": f"{name}-rejected",
                "PENSTOCK_POLICY": "exact",
                "PENSTOCK_TOPIC": name,
            }
        },
    )
    yield story
    client("lambda").delete_function(FunctionName=story.producer)
    consumer.remove()


def test_events_become_rows_in_another_account(story: Story) -> None:
    said = [story.produce(name)[0] for name in ("empty", "add_temperature", "empty", "nested")]
    refused, error = story.produce("contradict_temperature")

    assert [(each["partition"], each["offset"]) for each in said] == [(0, at) for at in range(4)]
    assert [each["schema"]["version"] for each in said] == [1, 2, 1, 3]
    assert said[1]["schema"]["diff"] == ["+ temperature: long (optional)"]
    assert (error, refused["errorType"]) == ("Unhandled", "RejectedEventError")
    story.topic.send("not framed")

    with mapped(story.consumer.at_home, story.consumer.function, story.topic):
        wait_until("four readings and an error", lambda: len(story.consumer.rows("errors")) == 1)

    rows = sorted(story.consumer.rows("readings"), key=lambda row: row["_source"])
    assert [row["_schema"] for row in rows] == [1, 2, 1, 3]
    assert [row.get("temperature") for row in rows] == [None, 30, None, None]
    assert rows[3]["samples"] == [{"at": 1, "value": pytest.approx(0.5)}, {"at": 2}]
    (error_row,) = story.consumer.rows("errors")
    assert error_row["id"] == f"{story.topic.name}/0/4/{error_row['kafkaTimestamp']}"
    assert error_row["reason"] == "unknown-framing"
    assert error_row["value"].value == b"not framed"


def test_old_records_are_read_after_the_registry_was_lost_and_restored(
    story: Story, act_as: ActAs, tmp_path: Path
) -> None:
    act_as(PRODUCER)
    name, path = story.topic.name, f"{tmp_path}/registry.jsonl"
    url, where = f"glue://{name}?region={REGION}", f"s3://{name}-parked/registry.jsonl"
    old = [story.produce(each)[0]["schema"]["id"] for each in ("empty", "add_temperature")]
    export_schemas(url, path)

    story.client("glue").delete_registry(RegistryId={"RegistryName": name})
    story.client("glue").create_registry(RegistryName=name)
    list(import_schemas(url, path))
    story.client("lambda").update_function_configuration(  # ends what knows the old ids
        FunctionName=story.producer, MemorySize=600
    )
    new = [story.produce(each)[0]["schema"]["id"] for each in ("empty", "add_temperature")]
    bucket, _, key = where.removeprefix("s3://").partition("/")
    story.consumer.at_home("s3").upload_file(path, bucket, key)
    allow(
        story.consumer.at_home, story.consumer.role, "s3:GetObject", f"arn:aws:s3:::{bucket}/{key}"
    )
    story.consumer.set_environment(PENSTOCK_REGISTRY_BACKUPS=where)

    with mapped(story.consumer.at_home, story.consumer.function, story.topic):
        wait_until("four readings", lambda: len(story.consumer.rows("readings")) == 4)

    rows = sorted(story.consumer.rows("readings"), key=lambda row: row["_source"])
    assert [row["_schemaId"] for row in rows] == [*old, *new]
    assert len({*old, *new}) == 4
    assert [row["_schema"] for row in rows] == [1, 2, 1, 2]
    assert [row.get("temperature") for row in rows] == [None, 30, None, 30]
    assert story.consumer.rows("errors") == []


def test_without_the_reader_role_nothing_is_given_up(story: Story) -> None:
    story.produce("empty")
    name = story.consumer.reader.split("/")[1]
    policies = story.client("iam").list_role_policies(RoleName=name)["PolicyNames"]
    story.client("iam").delete_role_policy(RoleName=name, PolicyName=policies[0])

    with mapped(story.consumer.at_home, story.consumer.function, story.topic) as identity:
        wait_until(
            "the batch fails",
            lambda: (
                "PROBLEM"
                in story.consumer.at_home("lambda").get_event_source_mapping(UUID=identity)[
                    "LastProcessingResult"
                ]
            ),
        )
        assert story.consumer.rows("readings") == story.consumer.rows("errors") == []
        allow(story.client, story.consumer.reader, "glue:GetSchemaVersion")
        wait_until("the reading arrives", lambda: len(story.consumer.rows("readings")) == 1)

    assert story.consumer.rows("errors") == []
