"""The access function does what Terraform asks, by the events that Terraform sends."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from kafka.admin import (
    ACLFilter,
    ACLOperation,
    ACLPermissionType,
    ACLResourcePatternType,
    ResourcePatternFilter,
    ResourceType,
)

from penstock.errors import SettingsError, TopicChangeError
from penstock.kafka import Security
from systems.clusters import PRODUCER, REGION, Brokers, logged_in

pytestmark = pytest.mark.kafka

_FOLDER = Path(__file__).parents[3] / "lambdas" / "access"
_USER = "analytics_jobs_a"
Handle = Callable[[dict[str, Any]], dict[str, Any]]


def load_handler(**variables: str) -> Any:
    """Import the handler as Lambda does, with those variables and no others of Kafka."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KAFKA_")}
    spec = importlib.util.spec_from_file_location("access_handler", _FOLDER / "handler.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    with patch.dict(os.environ, kept | {"AWS_REGION": REGION} | variables, clear=True):
        spec.loader.exec_module(module)
    return module


def read_event(name: str) -> dict[str, Any]:
    return json.loads((_FOLDER / "events" / f"{name}.json").read_text())


@pytest.fixture
def handle(brokers: Brokers) -> Iterator[Handle]:
    """Call the function as its role may."""
    handler = load_handler(
        KAFKA_BOOTSTRAP_SERVERS=brokers.cluster.bootstrap_servers("IAM"),
        KAFKA_SECURITY=Security.IAM,
        KAFKA_CA_FILE=str(brokers.cluster.ca_file),
    )
    with logged_in(brokers, PRODUCER):
        yield lambda event: handler.lambda_handler(event, None)


def lists_of(brokers: Brokers, user: str) -> set[str]:
    anything = ResourcePatternFilter(ResourceType.ANY, None, ACLResourcePatternType.ANY)
    asked = ACLFilter(f"User:{user}", None, ACLOperation.ANY, ACLPermissionType.ANY, anything)
    with closing(brokers.cluster.open_admin()) as admin:
        return {
            f"{acl.operation.name} {acl.resource_pattern.resource_name}"
            for acl in admin.describe_acls(asked)[0]
        }


def topics_of(brokers: Brokers) -> set[str]:
    with closing(brokers.cluster.open_admin()) as admin:
        return set(admin.list_topics())


def test_a_reader_comes_changes_and_goes(brokers: Brokers, handle: Handle) -> None:
    """The events in the order of two applies: made, granted; deleted."""
    assert handle(read_event("create_reader")) == {"done": []}
    assert handle(read_event("create_topic")) == {"done": []}
    made = handle(read_event("wanted"))["done"]
    assert "topic 'sensor' was created" in made
    assert f"access list User:{_USER} ALLOW READ on topic sensor was created" in made
    assert lists_of(brokers, _USER) == {
        "READ sensor",
        "WRITE sensor",
        "READ analytics-jobs-",
        "DESCRIBE analytics-audit-",
        "DESCRIBE analytics-jobs-",
        "DESCRIBE_CONFIGS kafka-cluster",
    }
    assert handle(read_event("wanted")) == {"done": []}

    assert len(handle(read_event("delete_reader"))["done"]) == 6
    assert handle(read_event("delete_reader")) == {"done": []}
    assert lists_of(brokers, _USER) == set()

    assert handle(read_event("update_topic")) == {"done": []}
    assert handle(read_event("delete_topic")) == {"done": ["topic 'sensor' was deleted"]}
    assert handle(read_event("delete_topic")) == {"done": []}


def test_a_removed_topic_is_kept_by_default(brokers: Brokers, handle: Handle) -> None:
    name = brokers.create_topic()
    event = read_event("delete_topic")
    event["topic"] = {"name": name, "delete_when_removed": False}

    assert handle(event) == {"done": []}
    assert name in topics_of(brokers)


def test_a_reader_with_transactions_has_ids_under_its_prefix(
    brokers: Brokers, handle: Handle
) -> None:
    event = read_event("wanted")
    event["wanted"]["topics"] = {}
    event["wanted"]["readers"][_USER]["transactions"] = True

    made = handle(event)["done"]

    lists = f"User:{_USER} ALLOW WRITE on transactional_id analytics-jobs- by prefix"
    assert f"access list {lists} was created" in made
    assert len(handle(read_event("delete_reader"))["done"]) == 7


def test_a_change_that_fails_fails_the_call(brokers: Brokers, handle: Handle) -> None:
    name = brokers.create_topic(partitions=3)
    event = {"wanted": {"topics": {name: {"partitions": 1}}, "readers": {}}}

    with pytest.raises(TopicChangeError, match=f"topic '{name}' has 3 partitions"):
        handle(event)


def test_missing_settings_are_reported_at_the_start() -> None:
    with pytest.raises(SettingsError, match=r"KAFKA_BOOTSTRAP_SERVERS .* is missing"):
        load_handler()
