"""Serverless clusters: what the API takes, and real brokers within the limits of MSK Serverless."""

from __future__ import annotations

import secrets
from contextlib import closing

import pytest
from kafka import KafkaAdminClient
from kafka.admin import ConfigResource, ConfigResourceType, NewTopic
from kafka.errors import PolicyViolationError

from localcloud.errors import MissingHopError
from localcloud.network import Nodes, Source, find_path, load_network, resolve_names
from localcloud.testing import wait_until
from tests.kafka.running_cluster import Running, consume
from tests.refusals import refusal

pytestmark = pytest.mark.kafka

_BY_IAM = {"Sasl": {"Iam": {"Enabled": True}}}


def request(subnets, groups=(), **changes):
    """Write the parameters of CreateClusterV2."""
    config = {"SubnetIds": subnets[:2], "SecurityGroupIds": list(groups)}
    given = {"VpcConfigs": [config], "ClientAuthentication": _BY_IAM} | changes
    return {"ClusterName": f"s-{secrets.token_hex(4)}", "Serverless": given}


def wait_for(kafka, arn):
    """Wait until a cluster is ACTIVE; returns what DescribeClusterV2 shows."""

    def active():
        shown = kafka.describe_cluster_v2(ClusterArn=arn)["ClusterInfo"]
        return shown if shown["State"] == "ACTIVE" else None

    return wait_until(f"ACTIVE of {arn}", active, 150)


@pytest.fixture
def make(kafka, subnets, pretended):
    """Make a serverless cluster that is ACTIVE; returns what DescribeClusterV2 shows."""
    return lambda: wait_for(kafka, kafka.create_cluster_v2(**request(subnets))["ClusterArn"])


def test_it_is_described_by_its_networks_and_login(kafka, make, subnets):
    shown = make()

    assert shown["ClusterType"] == "SERVERLESS"
    (config,) = shown["Serverless"]["VpcConfigs"]
    assert config["SubnetIds"] == subnets[:2]
    assert shown["Serverless"]["ClientAuthentication"] == _BY_IAM
    assert "Provisioned" not in shown
    answer = kafka.get_bootstrap_brokers(ClusterArn=shown["ClusterArn"])
    (server,) = [answer[name] for name in answer if name.startswith("Bootstrap")]
    assert server.startswith("boot-")
    assert server.endswith(".kafka-serverless.eu-central-1.amazonaws.com:9098")


def test_it_is_listed_by_its_type(kafka, make):
    arn = make()["ClusterArn"]

    def listed(**given):
        found = kafka.list_clusters_v2(**given)["ClusterInfoList"]
        return arn in {each["ClusterArn"] for each in found}

    assert listed() and listed(ClusterTypeFilter="SERVERLESS")
    assert not listed(ClusterTypeFilter="PROVISIONED")
    assert arn not in {each["ClusterArn"] for each in kafka.list_clusters()["ClusterInfoList"]}


def test_what_has_brokers_to_change_is_refused(kafka, make):
    arn = make()["ClusterArn"]
    version = {"CurrentVersion": "K1", "ClusterArn": arn}

    for call, given in (
        (kafka.describe_cluster, {"ClusterArn": arn}),
        (kafka.list_nodes, {"ClusterArn": arn}),
        (kafka.batch_associate_scram_secret, {"ClusterArn": arn, "SecretArnList": ["a"]}),
        (kafka.update_broker_count, version | {"TargetNumberOfBrokerNodes": 4}),
        (kafka.update_connectivity, version | {"ConnectivityInfo": {}}),
    ):
        code, message = refusal(call, **given)
        assert code == "BadRequestException"
        assert message == "This operation cannot be performed on serverless clusters."


def test_requests_beyond_its_limits_are_refused(kafka, subnets, pretended):
    config = {"SubnetIds": subnets[:2]}
    for changes, said in (
        ({"ClientAuthentication": {}}, "A serverless cluster needs IAM access control"),
        ({"VpcConfigs": [{"SubnetIds": subnets[:1]}]}, "Specify at least two subnets"),
        ({"VpcConfigs": [config] * 6}, "A serverless cluster is in 1 to 5 VPCs, not 6"),
    ):
        code, message = refusal(kafka.create_cluster_v2, **request(subnets, **changes))
        assert code == "BadRequestException"
        assert message.startswith(said)


def test_an_account_has_ten_of_them(client, place, pretended):
    kafka, subnets = client("kafka", account="930000000041"), place("930000000041")[1]
    for _ in range(10):
        kafka.create_cluster_v2(**request(subnets))

    _, message = refusal(kafka.create_cluster_v2, **request(subnets))

    assert message == "An account has up to 10 serverless clusters"


@pytest.fixture(scope="module")
def serverless(cloud, client, kafka, place):
    """Real brokers of a serverless cluster, in a VPC of their own."""
    vpc, subnets = place()
    ec2 = client("ec2")
    groups = [
        ec2.create_security_group(GroupName=name, Description=name, VpcId=vpc)["GroupId"]
        for name in ("cluster", "clients")
    ]
    arn = kafka.create_cluster_v2(**request(subnets, groups[:1]))["ClusterArn"]
    wait_for(kafka, arn)
    cluster = Running(cloud, arn, client)
    cluster.learn_names()
    cluster.source = Source(vpc, tuple(subnets), (groups[1],))
    cluster.server = kafka.get_bootstrap_brokers(ClusterArn=arn)["BootstrapBrokerStringSaslIam"]
    cluster.groups, cluster.ec2 = groups, ec2
    with resolve_names(cluster.names):
        yield cluster
    kafka.delete_cluster(ClusterArn=arn)


def test_a_java_client_in_its_vpc_writes_by_the_bootstrap_name(cloud, serverless, java):
    rule = {"IpProtocol": "tcp", "FromPort": 9098, "ToPort": 9098}
    peer = {"UserIdGroupPairs": [{"GroupId": serverless.groups[1]}]}
    host = serverless.server.partition(":")[0]
    with pytest.raises(MissingHopError, match="let no TCP 9098 in from"):
        find_path(cloud.state(Nodes), serverless.source, host, 9098)
    serverless.ec2.authorize_security_group_ingress(
        GroupId=serverless.groups[0], IpPermissions=[rule | peer]
    )
    topic = serverless.topic(num_partitions=6, replication_factor=3)
    _, keys = serverless.assume_role(["*"])
    environment = load_network(cloud).environment_for(serverless.source)
    settings = serverless.msk_iam() | {"bootstrap_servers": [serverless.server]}

    assert "written" in java.produce(settings, keys, topic, "AWS_MSK_IAM", environment)

    assert consume(serverless.iam(keys), topic) == b"from java by AWS_MSK_IAM"


def test_nobody_else_knows_its_names(cloud, client, serverless, place):
    vpc, subnets = place()
    host = serverless.server.partition(":")[0]

    with pytest.raises(MissingHopError, match="no private zone"):
        find_path(cloud.state(Nodes), Source(vpc, tuple(subnets)), host, 9098)


@pytest.mark.parametrize(
    ("topic", "said"),
    [
        ({"replication_factor": 2}, "MSK Serverless has 3 replicas of each partition, not 2"),
        ({"num_partitions": 2401}, "up to 2400 partitions with cleanup.policy delete, not 2401"),
        (
            {"num_partitions": 121, "topic_configs": {"cleanup.policy": "compact"}},
            "up to 120 partitions with cleanup.policy compact, not 121",
        ),
        (
            {"topic_configs": {"segment.bytes": "1048576"}},
            "MSK Serverless does not take the property segment.bytes of a topic",
        ),
        (
            {"topic_configs": {"max.message.bytes": "8388609"}},
            "MSK Serverless takes max.message.bytes up to 8388608, not 8388609",
        ),
    ],
)
def test_topics_beyond_its_limits_are_refused(serverless, topic, said):
    given = {"num_partitions": 1, "replication_factor": 3} | topic

    with pytest.raises(PolicyViolationError, match=said):
        serverless.topic(**given)


def test_a_topic_keeps_to_the_limits_when_it_is_changed(serverless):
    topic = serverless.topic(
        replication_factor=3, topic_configs={"message.timestamp.type": "LogAppendTime"}
    )
    _, keys = serverless.assume_role(["*"])
    wanted = ConfigResource(ConfigResourceType.TOPIC, topic, {"segment.ms": "1000"})

    with closing(KafkaAdminClient(**serverless.iam(keys))) as admin:
        answer = admin.alter_configs([wanted])

    assert "MSK Serverless does not take the property segment.ms" in str(answer)


def test_a_role_needs_rights_on_topics(serverless):
    topic = serverless.topic(replication_factor=3)
    _, keys = serverless.assume_role(["Connect"])

    with closing(KafkaAdminClient(**serverless.iam(keys))) as admin:
        assert topic not in admin.list_topics()
        with pytest.raises(Exception, match="Authorization"):
            admin.create_topics([NewTopic("mine", 1, 3)])
