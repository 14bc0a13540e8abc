"""MSK without brokers for tests of the control plane, and what every cluster needs around it."""

from __future__ import annotations

import json
import secrets

import pytest

from localcloud.network.names import resolve_names
from localcloud.testing.certificates import PrivateAuthority
from localcloud.testing.pretending import pretend_brokers
from tests.account_ids import PRODUCER
from tests.echo_brokers import Broker
from tests.kafka.changing import update
from tests.kafka.requests import SCRAM_AND_IAM, describe_request, open_to_vpcs, wait_for
from tests.kafka.running_cluster import JavaProducer, Running
from tests.two_accounts import TwoAccounts
from tests.vpcs import make_vpc


@pytest.fixture
def pretended(cloud):
    """Pretended brokers, for one test."""
    with pretend_brokers(cloud) as known:
        yield known


@pytest.fixture(scope="session")
def kafka(client):
    """MSK as the producer's account has it."""
    return client("kafka")


@pytest.fixture(scope="session")
def place(client):
    """Make a VPC with subnets in three zones; returns its id and theirs."""

    def make(account="111111111111"):
        ec2 = client("ec2", account=account)
        vpc = make_vpc(ec2, "10.1.0.0/16")
        return vpc, [
            ec2.create_subnet(
                VpcId=vpc, CidrBlock=f"10.1.{number}.0/24", AvailabilityZone=f"eu-central-1{zone}"
            )["Subnet"]["SubnetId"]
            for number, zone in enumerate("abc")
        ]

    return make


@pytest.fixture(scope="session")
def subnets(place):
    """Three subnets of one VPC of the producer's account."""
    return place()[1]


@pytest.fixture
def make_cluster(kafka, subnets, pretended):
    """Make a cluster that is ACTIVE, with changes on top; returns what DescribeCluster shows."""

    def make(**changes):
        given = describe_request(subnets) | changes
        return wait_for(kafka, kafka.create_cluster(**given)["ClusterArn"])

    return make


@pytest.fixture(scope="session")
def make_configuration(kafka):
    """Make a configuration with those server properties; returns its ARN."""

    def make(properties, **changes):
        given = {"Name": f"c-{secrets.token_hex(4)}", "ServerProperties": properties.encode()}
        return kafka.create_configuration(**given | changes)["Arn"]

    return make


@pytest.fixture(scope="session")
def keep_secret(client):
    """Keep a user in a secret with a customer's key; returns the ARN."""

    def keep(user, password, name=None, **changes):
        key = client("kms").create_key()["KeyMetadata"]["KeyId"]
        given = {
            "Name": name or f"AmazonMSK_{secrets.token_hex(4)}",
            "KmsKeyId": key,
            "SecretString": json.dumps({"username": user, "password": password}),
        }
        given = {k: v for k, v in (given | changes).items() if v is not None}
        return client("secretsmanager").create_secret(**given)["ARN"]

    return keep


@pytest.fixture(scope="session")
def authority(client):
    """The private CA of the clients' certificates, in the account of the running cluster."""
    return PrivateAuthority.make(client("acm-pca"))


@pytest.fixture(scope="session")
def logins(authority):
    """All the ways to log in."""
    return SCRAM_AND_IAM | {"Tls": {"CertificateAuthorityArnList": [authority.arn]}}


@pytest.fixture(scope="session")
def request_for_brokers(subnets, make_configuration, logins):
    """The request for two brokers, where nobody may do anything without being allowed."""
    properties = "allow.everyone.if.no.acl.found=false\nauto.create.topics.enable=false"
    configuration = {"Arn": make_configuration(properties), "Revision": 1}
    exporter = {"Prometheus": {"JmxExporter": {"EnabledInBroker": True}}}
    return describe_request(subnets) | {
        "ClientAuthentication": logins,
        "ConfigurationInfo": configuration,
        "OpenMonitoring": exporter,
    }


@pytest.fixture(scope="session")
def running(cloud, client, kafka, request_for_brokers):
    """These brokers, which are real."""
    shown = wait_for(kafka, kafka.create_cluster(**request_for_brokers)["ClusterArn"])
    update(kafka, "update_connectivity", shown, ConnectivityInfo=open_to_vpcs("Iam"))
    cluster = Running(cloud, shown["ClusterArn"], client)
    cluster.learn_names()
    with resolve_names(cluster.names):
        yield cluster


@pytest.fixture(scope="session")
def accounts(cloud, client, running, subnets):
    """The running cluster, exposed to a consumer as Terraform would: SCRAM and IAM."""
    nodes = running.view.nodes
    given = [Broker(node.name, node.interface_id, node.interface_address) for node in nodes]
    described = client("ec2", PRODUCER).describe_subnets(SubnetIds=subnets)["Subnets"]
    zone = nodes[0].name.partition(".")[2]
    made = TwoAccounts(cloud, client, zone, home=(described[0]["VpcId"], subnets, given))
    for broker in made.brokers:
        made.open_port(broker, 9098)
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


@pytest.fixture(scope="session")
def java(tmp_path_factory):
    """A producer with AWS's own Java library."""
    return JavaProducer(tmp_path_factory.mktemp("java")).compile()
