"""Real brokers of the producer's account, used from the consumer's VPC by PrivateLink alone."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys

import pytest

from localcloud.network import load_network
from localcloud.testing import allow, deploy, make_role, wait_until
from localcloud.testing.mappings import get, seen, trace_in, tracing
from tests.account_ids import CONSUMER
from tests.kafka.running_cluster import consume, produce_to_each
from tests.refusing import refusals_of, rejected

pytestmark = pytest.mark.kafka

_CHILD_SECONDS = 60
# Each partition is written to and read from at its leader, by the name that it advertises.
_ROUND_TRIP = """
import json, sys
from kafka import KafkaConsumer, KafkaProducer

given = json.load(sys.stdin)
producer = KafkaProducer(**given["settings"], max_block_ms=60_000)
for number in range(20):
    producer.send(given["topic"], b"%d" % number, partition=number % 4).get(60)
producer.close()
consumer = KafkaConsumer(
    given["topic"], **given["settings"], auto_offset_reset="earliest", consumer_timeout_ms=60_000
)
print(sorted(int(next(consumer).value) for _ in range(20)))
consumer.close()
"""


def open_endpoints(consumer, accounts, *services):
    """Give the consumer's VPC interface endpoints for services of AWS."""
    ec2, vpc = consumer("ec2"), accounts.source.vpc_id
    ec2.modify_vpc_attribute(VpcId=vpc, EnableDnsHostnames={"Value": True})
    group = ec2.create_security_group(VpcId=vpc, GroupName="aws", Description="aws")["GroupId"]
    https = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443}
    client_group = {"UserIdGroupPairs": [{"GroupId": accounts.source.group_ids[0]}]}
    ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=[https | client_group])
    for service in services:
        ec2.create_vpc_endpoint(
            VpcId=vpc,
            VpcEndpointType="Interface",
            ServiceName=f"com.amazonaws.eu-central-1.{service}",
            SubnetIds=list(accounts.source.subnet_ids),
            SecurityGroupIds=[group],
            PrivateDnsEnabled=True,
        )


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


def test_a_mapping_feeds_a_function_by_private_link_alone(
    client, accounts, running, user, tmp_path
):
    settings, topic = user
    consumer = functools.partial(client, account=CONSUMER)
    open_endpoints(consumer, accounts, "sts", "lambda", "secretsmanager")
    name, group, trace = settings["sasl_plain_username"], f"g-{topic}", tmp_path / "trace"
    running.allow(name, "GROUP", group, "READ")
    running.allow(name, "CLUSTER", "kafka-cluster", "DESCRIBE_CONFIGS")
    login = {"username": name, "password": settings["sasl_plain_password"]}
    secret = consumer("secretsmanager").create_secret(Name=name, SecretString=json.dumps(login))
    role = make_role(consumer)
    allow(consumer, role, "secretsmanager:GetSecretValue", secret["ARN"])
    access = [
        {"Type": "SASL_SCRAM_512_AUTH", "URI": secret["ARN"]},
        *({"Type": "VPC_SUBNET", "URI": f"subnet:{it}"} for it in accounts.source.subnet_ids),
        {"Type": "VPC_SECURITY_GROUP", "URI": f"security_group:{accounts.source.group_ids[0]}"},
    ]
    servers = [f"{broker.host}:9096" for broker in accounts.brokers]
    mapping = consumer("lambda").create_event_source_mapping(
        FunctionName=deploy(consumer, tracing(), Role=role, **trace_in(trace)),
        Topics=[topic],
        StartingPosition="TRIM_HORIZON",
        SelfManagedEventSource={"Endpoints": {"KAFKA_BOOTSTRAP_SERVERS": servers}},
        SelfManagedKafkaEventSourceConfig={"ConsumerGroupId": group},
        SourceAccessConfigurations=access,
    )["UUID"]

    def seen_all(*values):
        # As a set: a cut between the call and its commit brings the batch again.
        return {value for n in range(4) for value in seen(trace, f"{topic}-{n}")} == set(values)

    produce_to_each(settings, topic, "a", "b", "c", "d")
    wait_until("what was sent", lambda: seen_all("a", "b", "c", "d"))
    with rejected(accounts):
        wait_until("the cut", lambda: get(consumer, mapping)["LastProcessingResult"] != "OK")
        produce_to_each(settings, topic, "e", "f", "g", "h")
    wait_until("the rest", lambda: seen_all(*"abcdefgh"))
    consumer("lambda").delete_event_source_mapping(UUID=mapping)


def test_a_java_client_writes_by_iam_from_the_consumers_vpc(cloud, accounts, running, java):
    topic = running.topic(num_partitions=4)
    _, keys = running.assume_role(["*"])
    environment = load_network(cloud).environment_for(accounts.source)

    assert "written" in java.produce(running.msk_iam(), keys, topic, "AWS_MSK_IAM", environment)

    assert consume(running.iam(keys), topic) == b"from java by AWS_MSK_IAM"


def test_behind_a_rejected_endpoint_brokers_are_unreachable(cloud, accounts, user):
    """As on AWS the client says only that nobody answers; the reason is with the links."""
    network = load_network(cloud)
    environment = network.environment_for(accounts.source)

    with rejected(accounts):
        said = run_client(environment, user)
        refusals = refusals_of(network, accounts.brokers)

    assert "KafkaTimeoutError" in said
    assert refusals
    assert refusals <= {
        f"endpoint {broker.endpoint} is rejected, not available" for broker in accounts.brokers
    }
