"""A producer that is restored from a snapshot answers its first event as any other does."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from localcloud.brokers import BrokerCluster
from localcloud.testing import allow, invoke
from tests.fixtures.snapshots import expire_keys, needs_snapshots, running_from_snapshot
from tests.lambdas.producer.conftest import Producers

pytestmark = [pytest.mark.kafka, needs_snapshots]


def test_its_first_events_are_written_and_kept_with_new_keys(
    producers: Producers, client: Callable[..., Any], snapshot_zips: Path
) -> None:
    package = snapshot_zips / "producer-lambda.zip"
    with running_from_snapshot(client, producers.function, package) as (name, version):
        expire_keys(producers.cloud, name)
        answers = [
            invoke(client, name, event, Qualifier=version)
            for event in ({"temperature": 30}, [{"temperature": 31}, {"temperature": "warm"}])
        ]

    assert [error for _, error in answers] == [None, None]
    (first, (second, refused)) = (answer for answer, _ in answers)
    assert (first["offset"], second["offset"]) == (0, 1)
    assert refused["error"]["reason"] == "SchemaConflictError"
    assert [event["temperature"] for _, event in producers.records(producers.registry())] == [
        30,
        31,
    ]
    assert [each["event"] for each in producers.rejected()] == [{"temperature": "warm"}]


def test_it_logs_in_with_a_secret_that_was_rotated_after_the_snapshot(
    producers: Producers, broker: BrokerCluster, client: Callable[..., Any], snapshot_zips: Path
) -> None:
    """The user of before, whose password the snapshot holds, has another one by then."""
    users = [f"{producers.name}-{at}" for at in range(2)]
    secret = client("secretsmanager").create_secret(
        Name=f"AmazonMSK_{producers.name}", SecretString=_set_user(broker, users[0], "before")
    )["ARN"]
    role = client("lambda").get_function_configuration(FunctionName=producers.function)["Role"]
    allow(client, role, "secretsmanager:GetSecretValue")
    producers.set_environment(
        KAFKA_BOOTSTRAP_SERVERS=broker.bootstrap_servers("SCRAM"),
        KAFKA_CA_FILE=str(broker.ca_file),
        KAFKA_SECRET_ARN=secret,
        KAFKA_SECURITY="scram",
    )
    package = snapshot_zips / "producer-lambda.zip"
    with running_from_snapshot(client, producers.function, package) as (name, version):
        _set_user(broker, users[0], "gone")
        client("secretsmanager").put_secret_value(
            SecretId=secret, SecretString=_set_user(broker, users[1], "after")
        )
        answer, error = invoke(client, name, {"temperature": 30}, Qualifier=version)

    assert error is None, answer
    assert answer["offset"] == 0
    assert [event["temperature"] for _, event in producers.records(producers.registry())] == [30]


def _set_user(broker: BrokerCluster, user: str, password: str) -> str:
    """Set the password of a user, and return the secret with both."""
    broker.set_user(user, password)
    return json.dumps({"username": user, "password": password})
