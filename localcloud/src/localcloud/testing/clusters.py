"""An MSK cluster with real brokers, and topics on it."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.admin import NewTopic
from kafka.structs import TopicPartition

from localcloud.cloud import Cloud
from localcloud.network.names import resolve_names
from localcloud.services.kafka.directory import ClusterDirectory
from localcloud.testing.accounts import Account
from localcloud.testing.waiting import wait_until

_USER = "tester"
_BROKERS = 2
_ANSWER_MS = 30_000


@dataclass(frozen=True, slots=True)
class MskCluster:
    """A cluster that is ACTIVE. `options` are those of kafka-python for a user who may do all."""

    arn: str
    account: Account
    options: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class KafkaTopic:
    """A topic with one partition."""

    name: str
    options: Mapping[str, Any]

    def send(self, *values: bytes) -> None:
        """Write records and wait until they are acknowledged."""
        with closing(KafkaProducer(**self.options)) as producer:
            for sent in [producer.send(self.name, value) for value in values]:
                sent.get(_ANSWER_MS / 1_000)

    def read(self) -> list[bytes]:
        """Return the values of all its records."""
        with closing(KafkaConsumer(**self.options)) as consumer:
            place = TopicPartition(self.name, 0)
            consumer.assign([place])
            consumer.seek_to_beginning(place)
            end = consumer.end_offsets([place])[place]
            values: list[bytes] = []
            while len(values) < end:
                for records in consumer.poll(timeout_ms=_ANSWER_MS).values():
                    values += [record.value for record in records]
        return values


@contextmanager
def running_cluster(cloud: Cloud, account: Account) -> Iterator[MskCluster]:
    """Run a cluster of two brokers in a VPC of an account; its names resolve in this process."""
    kafka = account.client("kafka")
    arn = kafka.create_cluster(
        ClusterName=f"c-{secrets.token_hex(4)}",
        KafkaVersion="3.9.x.kraft",
        NumberOfBrokerNodes=_BROKERS,
        BrokerNodeGroupInfo={
            "InstanceType": "kafka.m7g.large",
            "ClientSubnets": _make_subnets(account),
        },
        ClientAuthentication={"Sasl": {"Scram": {"Enabled": True}, "Iam": {"Enabled": True}}},
    )["ClusterArn"]
    wait_until(
        f"{arn} is ACTIVE",
        lambda: kafka.describe_cluster(ClusterArn=arn)["ClusterInfo"]["State"] == "ACTIVE",
    )
    password = secrets.token_hex(8)
    kafka.batch_associate_scram_secret(
        ClusterArn=arn, SecretArnList=[_keep_user(account, password)]
    )
    view = next(each for each in ClusterDirectory(cloud).clusters() if each.arn == arn)
    with resolve_names({node.name: node.loopback_address for node in view.nodes}):
        yield MskCluster(
            arn,
            account,
            {
                "bootstrap_servers": [f"{node.name}:{view.ports['SCRAM']}" for node in view.nodes],
                "security_protocol": "SASL_SSL",
                "ssl_cafile": str(view.ca_file),
                "sasl_mechanism": "SCRAM-SHA-512",
                "sasl_plain_username": _USER,
                "sasl_plain_password": password,
            },
        )
    kafka.delete_cluster(ClusterArn=arn)


def make_topic(cluster: MskCluster) -> KafkaTopic:
    """Make a topic with one partition under a new name."""
    name = f"t-{secrets.token_hex(4)}"
    with closing(KafkaAdminClient(**cluster.options)) as admin:
        admin.create_topics([NewTopic(name, num_partitions=1, replication_factor=_BROKERS)])
    return KafkaTopic(name, cluster.options)


def _make_subnets(account: Account) -> list[str]:
    """Make a VPC with a subnet for each broker, in two zones."""
    ec2 = account.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    ec2.modify_vpc_attribute(VpcId=vpc, EnableDnsHostnames={"Value": True})
    return [
        ec2.create_subnet(
            VpcId=vpc,
            CidrBlock=f"10.0.{number}.0/24",
            AvailabilityZone=f"{account.region}{'ab'[number]}",
        )["Subnet"]["SubnetId"]
        for number in range(_BROKERS)
    ]


def _keep_user(account: Account, password: str) -> str:
    """Keep a user in a secret, with a key of the customer's as MSK wants it; return its ARN."""
    key = account.client("kms").create_key()["KeyMetadata"]["KeyId"]
    secret = account.client("secretsmanager").create_secret(
        Name=f"AmazonMSK_{secrets.token_hex(4)}",
        KmsKeyId=key,
        SecretString=json.dumps({"username": _USER, "password": password}),
    )
    arn: str = secret["ARN"]
    return arn
