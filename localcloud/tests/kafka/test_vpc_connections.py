"""Clients reach brokers over a VPC connection that MSK made, by the names that it has there."""

from __future__ import annotations

import json

import pytest

from localcloud.errors import MissingHopError
from localcloud.network import Nodes, Source, find_path, load_network, trace
from tests.account_ids import CONSUMER
from tests.kafka.running_cluster import consume

pytestmark = pytest.mark.kafka

_LOWEST, _HIGHEST = 14001, 14100


@pytest.fixture(scope="module")
def connected(running, client, place):
    """A VPC of another account with a connection to the running cluster, open on both sides."""
    return Connected(running, client, place(CONSUMER))


class Connected:
    """The connection, its security group and that of its clients."""

    def __init__(self, running, client, place):
        self.brokers, self.cluster = running.view, client("kafka")
        self.kafka, self.ec2 = client("kafka", account=CONSUMER), client("ec2", account=CONSUMER)
        self.owner = client("ec2")
        self.vpc, self.subnets = place
        self.group, self.clients = self._make_group("connection"), self._make_group("clients")
        statement = {
            "Effect": "Allow",
            "Principal": {"AWS": f"arn:aws:iam::{CONSUMER}:root"},
            "Action": ["kafka:CreateVpcConnection", "kafka:GetBootstrapBrokers", "kafka-cluster:*"],
            "Resource": "*",
        }
        self.cluster.put_cluster_policy(
            ClusterArn=running.arn, Policy=json.dumps({"Statement": [statement]})
        )
        self.arn = self.make()
        answer = self.kafka.get_bootstrap_brokers(ClusterArn=running.arn)
        self.servers = answer["BootstrapBrokerStringVpcConnectivitySaslIam"]
        self.host, port = self.servers.split(",")[0].split(":")
        self.port = int(port)
        self.let_in_clients()
        self.let_in_connections("0.0.0.0/0")

    @property
    def source(self):
        return Source(self.vpc, tuple(self.subnets), (self.clients,))

    def make(self):
        made = self.kafka.create_vpc_connection(
            TargetClusterArn=self.brokers.arn,
            Authentication="SASL_IAM",
            VpcId=self.vpc,
            ClientSubnets=self.subnets,
            SecurityGroups=[self.group],
        )
        return made["VpcConnectionArn"]

    def let_in_clients(self, revoke=False):
        self._change(self.ec2, self.group, revoke, UserIdGroupPairs=[{"GroupId": self.clients}])

    def let_in_connections(self, cidr, revoke=False):
        (group,) = self.brokers.security_group_ids
        self._change(self.owner, group, revoke, IpRanges=[{"CidrIp": cidr}])

    def _change(self, ec2, group, revoke, **peers):
        change = (
            ec2.revoke_security_group_ingress if revoke else ec2.authorize_security_group_ingress
        )
        rule = {"IpProtocol": "tcp", "FromPort": _LOWEST, "ToPort": _HIGHEST} | peers
        change(GroupId=group, IpPermissions=[rule])

    def _make_group(self, name):
        return self.ec2.create_security_group(GroupName=name, Description=name, VpcId=self.vpc)[
            "GroupId"
        ]


def test_a_java_client_writes_by_iam_over_a_connection(cloud, running, java, connected):
    topic = running.topic(num_partitions=4)
    _, keys = running.assume_role(["*"], account=CONSUMER)
    environment = load_network(cloud).environment_for(connected.source)

    settings = running.msk_iam() | {"bootstrap_servers": connected.servers.split(",")}

    said = java.produce(settings, keys, topic, "AWS_MSK_IAM", environment)

    assert "written" in said
    _, own = running.assume_role(["*"])
    assert consume(running.iam(own), topic) == b"from java by AWS_MSK_IAM"


def test_the_trace_names_the_connection_and_the_broker(cloud, connected):
    found = trace(cloud.state(Nodes), connected.source, connected.host, connected.port)

    assert found.missing is None
    assert found.hops[0] == f"connection {connected.arn}"
    assert found.hops[-1] == f"server {connected.brokers.nodes[0].name}"


def close_connection(connected):
    connected.let_in_clients(revoke=True)
    yield f"connection {connected.arn} ({connected.group}) let no TCP 14001 in from"
    connected.let_in_clients()


def close_brokers(connected):
    connected.let_in_connections("0.0.0.0/0", revoke=True)
    yield "let no TCP 14001 in from the service's network; add an ingress rule"
    connected.let_in_connections("0.0.0.0/0")


def let_in_own_addresses(connected):
    connected.let_in_connections("0.0.0.0/0", revoke=True)
    connected.let_in_connections("10.1.0.0/16")
    yield "let no TCP 14001 in from the service's network; add an ingress rule"
    connected.let_in_connections("10.1.0.0/16", revoke=True)
    connected.let_in_connections("0.0.0.0/0")


def reject_connection(connected):
    connected.cluster.reject_client_vpc_connection(
        ClusterArn=connected.brokers.arn, VpcConnectionArn=connected.arn
    )
    yield f"no private zone of {connected.vpc} answers for {connected.host}"
    connected.kafka.delete_vpc_connection(Arn=connected.arn)
    connected.arn = connected.make()


def delete_connection(connected):
    connected.kafka.delete_vpc_connection(Arn=connected.arn)
    yield f"no private zone of {connected.vpc} answers for {connected.host}"
    connected.arn = connected.make()


HOPS = [
    close_connection,
    close_brokers,
    let_in_own_addresses,
    reject_connection,
    delete_connection,
]


@pytest.mark.parametrize("break_hop", HOPS, ids=lambda function: function.__name__)
def test_without_a_hop_no_broker_is_reached(cloud, connected, break_hop):
    nodes = cloud.state(Nodes)
    steps = break_hop(connected)

    expected = next(steps)

    with pytest.raises(MissingHopError) as refused:
        find_path(nodes, connected.source, connected.host, connected.port)
    assert expected in str(refused.value)
    assert next(steps, None) is None
    find_path(nodes, connected.source, connected.host, connected.port)


def test_a_broker_has_one_port_there(cloud, connected):
    with pytest.raises(MissingHopError) as refused:
        find_path(cloud.state(Nodes), connected.source, connected.host, connected.port + 1)

    assert f"leads to {connected.brokers.nodes[0].name} on port 14001 only" in str(refused.value)


def test_a_vpc_without_private_names_does_not_know_the_brokers(cloud, connected):
    connected.ec2.modify_vpc_attribute(VpcId=connected.vpc, EnableDnsHostnames={"Value": False})
    with pytest.raises(MissingHopError, match="no private zone"):
        find_path(cloud.state(Nodes), connected.source, connected.host, connected.port)

    connected.ec2.modify_vpc_attribute(VpcId=connected.vpc, EnableDnsHostnames={"Value": True})
