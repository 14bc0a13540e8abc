"""A function in the cluster's VPC logs in with its role, and trusts the brokers by itself."""

from __future__ import annotations

import sysconfig

import pytest

from localcloud.testing import allow, deploy, invoke, make_role
from tests.kafka.running_cluster import consume

pytestmark = pytest.mark.kafka

_PRODUCE = """
import os, ssl, socket
from kafka import KafkaProducer

HOST, PORT = os.environ["BROKER"].split(":")

def handler(event, context):
    try:
        with socket.create_connection((HOST, PORT)) as plain:
            ssl.create_default_context().wrap_socket(plain, server_hostname=HOST).close()
    except ssl.SSLError as error:
        return error.verify_message
    producer = KafkaProducer(
        bootstrap_servers=[f"{HOST}:{PORT}"],
        security_protocol="SASL_SSL",
        sasl_mechanism="AWS_MSK_IAM",
    )
    sent = producer.send(event["topic"], event["value"].encode()).get(20)
    producer.close()
    return sent.offset
"""


@pytest.fixture
def role(client):
    """A role that may write to any topic."""
    made = make_role(client)
    allow(client, made, "kafka-cluster:*")
    return made


@pytest.fixture(scope="module")
def group(client, running):
    """A security group whose members the brokers let in."""
    ec2, view = client("ec2"), running.view
    made = ec2.create_security_group(VpcId=view.vpc_id, GroupName="functions", Description="x")
    brokers, port = view.security_group_ids[0], view.ports["IAM"]
    rule = {
        "IpProtocol": "tcp",
        "FromPort": port,
        "ToPort": port,
        "UserIdGroupPairs": [{"GroupId": made["GroupId"]}],
    }
    ec2.authorize_security_group_ingress(GroupId=brokers, IpPermissions=[rule])
    return made["GroupId"]


@pytest.fixture
def deploy_producer(client, running, role, group, tmp_path):
    """Deploy a function beside the brokers, which is told nothing of authorities unless given."""
    # What a zip would hold; site-packages itself is on no function's path.
    packages = tmp_path / "packages"
    packages.symlink_to(sysconfig.get_path("purelib"))
    view = running.view

    def make(**variables):
        given = {
            "PYTHONPATH": str(packages),
            "BROKER": f"{view.nodes[0].name}:{view.ports['IAM']}",
        }
        network = {"SubnetIds": list(view.subnet_ids), "SecurityGroupIds": [group]}
        return deploy(
            client,
            _PRODUCE,
            Role=role,
            Timeout=30,
            MemorySize=512,
            Environment={"Variables": given | variables},
            VpcConfig=network,
        )

    return make


def test_a_function_sends_to_the_brokers_of_its_vpc(client, running, deploy_producer):
    topic = running.topic()

    sent = invoke(client, deploy_producer(), {"topic": topic, "value": "from a function"})

    assert sent == (0, None)
    _, reader = running.assume_role(["*"])
    assert consume(running.iam(reader), topic) == b"from a function"


def test_a_function_may_trust_others(client, running, deploy_producer, tmp_path):
    nobody = tmp_path / "nobody.pem"
    nobody.touch()
    name = deploy_producer(SSL_CERT_FILE=str(nobody))

    said, _ = invoke(client, name, {"topic": running.topic(), "value": "x"})

    assert said == "unable to get local issuer certificate"
