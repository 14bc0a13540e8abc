"""Real brokers of the producer's account, used from the consumer's VPC by PrivateLink alone."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys

import pytest

from localcloud.network import load_network
from tests.localcloud.kafka.running import consume, produce_by_java
from tests.localcloud.two_accounts import PRODUCER, Broker, TwoAccounts

pytestmark = pytest.mark.kafka

_CHILD_SECONDS = 60
# Each partition is written to and read from at its leader, by the name that it advertises.
_ROUND_TRIP = """
import json, sys
from kafka import KafkaConsumer, KafkaProducer

given = json.load(sys.stdin)
producer = KafkaProducer(**given["settings"], max_block_ms=5000)
for number in range(20):
    producer.send(given["topic"], b"%d" % number, partition=number % 4).get(10)
producer.close()
consumer = KafkaConsumer(
    given["topic"], **given["settings"], auto_offset_reset="earliest", consumer_timeout_ms=10000
)
print(sorted(int(next(consumer).value) for _ in range(20)))
consumer.close()
"""


@pytest.fixture(scope="module")
def accounts(cloud, client, running, subnets):
    """The running cluster, exposed to a consumer as Terraform would."""
    nodes = running.view.nodes
    given = [Broker(node.name, node.interface_id, node.interface_address) for node in nodes]
    described = client("ec2", PRODUCER).describe_subnets(SubnetIds=subnets)["Subnets"]
    zone = nodes[0].name.partition(".")[2]
    made = TwoAccounts(cloud, client, zone, home=(described[0]["VpcId"], subnets, given))
    yield made
    made.close()


@pytest.fixture
def user(running, keep_secret):
    """A SCRAM user who may write and read one topic: the settings of its clients, the topic."""
    name, password = f"u-{secrets.token_hex(4)}", secrets.token_hex(8)
    running.client("kafka").batch_associate_scram_secret(
        ClusterArn=running.arn, SecretArnList=[keep_secret(name, password)]
    )
    topic = running.topic(num_partitions=4)
    running.allow(name, "TOPIC", topic, "WRITE", "READ", "DESCRIBE")
    return running.scram(name, password), topic


def run_client(environment, user):
    settings, topic = user
    done = subprocess.run(
        [sys.executable, "-c", _ROUND_TRIP],
        input=json.dumps({"settings": settings, "topic": topic}),
        env={"PATH": os.defpath, **environment},
        capture_output=True,
        text=True,
        timeout=_CHILD_SECONDS,
        check=False,
    )
    return done.stdout.strip() or done.stderr


def test_every_broker_is_used_from_the_consumers_vpc(cloud, accounts, user):
    network = load_network(cloud)

    said = run_client(network.environment_for(accounts.source), user)

    assert said == str(list(range(20)))


def test_a_java_client_writes_by_iam_from_the_consumers_vpc(cloud, accounts, running):
    for broker in accounts.brokers:
        accounts.open_port(broker, 9098)
    topic = running.topic(num_partitions=4)
    _, keys = running.assume_role(["*"])
    environment = load_network(cloud).environment_for(accounts.source)

    assert "written" in produce_by_java(running, keys, topic, "AWS_MSK_IAM", environment)

    assert consume(running.iam(keys), topic) == b"from java by AWS_MSK_IAM"


def test_without_the_way_there_is_no_kafka(cloud, accounts, user):
    """As on AWS the client says only that nobody answers; the reason is with the links."""
    network = load_network(cloud)
    environment = network.environment_for(accounts.source)
    for broker in accounts.brokers:
        accounts.reject(broker)

    said = run_client(environment, user)

    assert "KafkaTimeoutError" in said
    refusals = {link.refusal for link in network.links(accounts.brokers[0].host) if link.refusal}
    assert [text.partition(";")[0] for text in refusals] == [
        f"endpoint {accounts.brokers[0].endpoint} is rejected, not available"
    ]
    for broker in accounts.brokers:
        accounts.accept(broker)
