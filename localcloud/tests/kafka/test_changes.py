"""Changes of a cluster that its real brokers feel."""

from __future__ import annotations

import secrets
from contextlib import closing
from pathlib import Path

import pytest
import requests
from kafka import KafkaAdminClient
from kafka.admin import ConfigResource, ConfigResourceType, NewTopic

from localcloud.testing import wait_until
from tests.kafka.changing import update, wait_operation
from tests.kafka.requests import describe_request, wait_for
from tests.kafka.running_cluster import consume, produce

pytestmark = pytest.mark.kafka


@pytest.fixture(scope="module")
def admin(running):
    """Settings of a client that may do all."""
    return running.iam(running.assume_role(["*"])[1])


def test_a_property_changes_without_a_restart_where_kafka_allows(
    running, admin, make_configuration
):
    before = _pids(running)
    _configure(running, make_configuration, "message.max.bytes=2000000")
    assert _property(admin, "message.max.bytes") == "2000000"
    assert _pids(running) == before


def test_other_properties_restart_the_brokers(running, admin, make_configuration):
    before = _pids(running)
    _configure(running, make_configuration, "message.max.bytes=2100000\nnum.partitions=7")
    assert _property(admin, "num.partitions") == "7"
    assert _property(admin, "message.max.bytes") == "2100000"
    after = _pids(running)
    assert after.keys() == before.keys()
    assert not set(after.values()) & set(before.values())


def test_a_property_that_kafka_refuses_leaves_the_cluster_as_it_was(
    running, admin, make_configuration
):
    before = _property(admin, "num.partitions")
    for properties in ("num.partitions=many", "num.partitions=7\nmessage.max.bytes=-5"):
        operation = _configure(running, make_configuration, properties, "UPDATE_FAILED")
        assert "Invalid value" in operation["ErrorInfo"]["ErrorString"]
        assert _property(admin, "num.partitions") == before
        produce(admin, running.topic())


def test_a_killed_broker_comes_back(running, admin):
    topic = running.topic(num_partitions=4)
    _act(running, "kill-broker", 2)
    produce(admin, topic, b"with one broker less")
    _act(running, "restart-broker", 2)
    assert consume(admin, topic) == b"with one broker less"


def test_a_paused_broker_stands_still_until_it_is_resumed(running, admin):
    status = Path(f"/proc/{_pids(running)[1]}/status")
    _act(running, "pause-broker", 1)
    wait_until("it stands still", lambda: "State:\tT (stopped)" in status.read_text(), 10)
    _act(running, "resume-broker", 1)
    produce(admin, running.topic())
    assert "(stopped)" not in status.read_text()


def test_brokers_are_added_to_the_running_cluster(running, admin):
    before = _pids(running)
    kafka = running.client("kafka")
    version = kafka.describe_cluster(ClusterArn=running.arn)["ClusterInfo"]["CurrentVersion"]
    answer = kafka.update_broker_count(
        ClusterArn=running.arn, CurrentVersion=version, TargetNumberOfBrokerNodes=4
    )
    wait_operation(kafka, answer["ClusterOperationArn"])
    assert before.items() <= _pids(running).items()
    running.learn_names()
    with closing(KafkaAdminClient(**admin)) as client:
        brokers = {each["broker_id"]: each["host"] for each in client.describe_cluster()["brokers"]}
        assert brokers == {node.broker_id: node.name for node in running.view.nodes}
        name = f"t-{secrets.token_hex(4)}"
        client.create_topics([NewTopic(name, num_partitions=1, replication_factor=4)])
        produce(admin, name)


def test_brokers_that_cannot_start_make_the_cluster_fail(kafka, subnets, make_configuration):
    configuration = {"Arn": make_configuration("num.io.threads=none"), "Revision": 1}
    given = describe_request(subnets) | {"ConfigurationInfo": configuration}
    arn = kafka.create_cluster(**given)["ClusterArn"]
    shown = wait_for(kafka, arn, "FAILED")
    assert "Invalid value none for configuration num.io.threads" in shown["StateInfo"]["Message"]
    kafka.delete_cluster(ClusterArn=arn)


def _configure(running, make_configuration, properties, ends="UPDATE_COMPLETE"):
    """Apply properties to the running cluster, and wait for the end of that."""
    kafka = running.client("kafka")
    kept = "allow.everyone.if.no.acl.found=false\nauto.create.topics.enable=false\n"
    shown = kafka.describe_cluster(ClusterArn=running.arn)["ClusterInfo"]
    wanted = {"Arn": make_configuration(kept + properties), "Revision": 1}
    return update(kafka, "update_cluster_configuration", shown, ends=ends, ConfigurationInfo=wanted)


def _property(admin, name):
    """Ask a broker for the value that it has."""
    asked = ConfigResource(ConfigResourceType.BROKER, "1", [name])
    with closing(KafkaAdminClient(**admin)) as client:
        found = client.describe_configs([asked], config_filter="all")
    return found["broker"]["1"][name]["value"]


def _pids(running):
    clusters = requests.get(f"{running.endpoint}/_localcloud/status", timeout=60).json()["clusters"]
    (shown,) = [each for each in clusters if each["arn"] == running.arn]
    return {each["node"]: each["pid"] for each in shown["processes"]}


def _act(running, what, broker):
    answer = requests.post(
        f"{running.endpoint}/_localcloud/{what}",
        json={"cluster": running.arn, "broker": broker},
        timeout=60,
    )
    assert answer.status_code == 200, answer.text
