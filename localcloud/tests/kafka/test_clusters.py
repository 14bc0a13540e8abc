"""Clusters as the API shows them; no broker is started."""

from __future__ import annotations

import pytest

from localcloud.network.nodes import Nodes
from localcloud.services.kafka.directory import ClusterDirectory
from localcloud.services.kafka.processes import Launcher
from localcloud.testing import wait_until
from tests.kafka.requests import describe_request, list_brokers, wait_for
from tests.refusals import is_gone, refusal

_UNKNOWN = "arn:aws:kafka:eu-central-1:111111111111:cluster/none/5b3d-1"


def test_a_cluster_is_created_described_and_deleted(kafka, subnets, pretended):
    given = describe_request(subnets) | {"Tags": {"team": "a"}}
    name = given["ClusterName"]

    made = kafka.create_cluster(**given)
    assert (made["ClusterName"], made["State"]) == (name, "CREATING")
    shown = wait_for(kafka, made["ClusterArn"])

    assert shown["Tags"] == {"team": "a"}
    assert shown["NumberOfBrokerNodes"] == 2
    assert shown["CurrentBrokerSoftwareInfo"] == {"KafkaVersion": "3.9.x.kraft"}
    assert shown["BrokerNodeGroupInfo"]["ConnectivityInfo"] == {
        "PublicAccess": {"Type": "DISABLED"}
    }
    assert shown["EncryptionInfo"]["EncryptionInTransit"] == {
        "ClientBroker": "TLS",
        "InCluster": True,
    }
    assert (shown["EnhancedMonitoring"], shown["StorageMode"]) == ("DEFAULT", "LOCAL")

    arn = shown["ClusterArn"]
    version = shown["CurrentVersion"]
    assert kafka.delete_cluster(ClusterArn=arn, CurrentVersion=version)["State"] == "DELETING"
    _await_end(kafka, arn)
    assert pretended[name].done == ["stop"]


def test_the_second_form_shows_settings_under_provisioned(kafka, subnets, pretended):
    given = describe_request(subnets)
    name = given.pop("ClusterName")
    made = kafka.create_cluster_v2(ClusterName=name, Provisioned=given)
    assert made["ClusterType"] == "PROVISIONED"
    wait_for(kafka, made["ClusterArn"])

    shown = kafka.describe_cluster_v2(ClusterArn=made["ClusterArn"])["ClusterInfo"]
    assert shown["ClusterType"] == "PROVISIONED"
    assert shown["Provisioned"]["NumberOfBrokerNodes"] == 2


def test_brokers_that_do_not_start_are_reported(kafka, subnets, cloud, monkeypatch):
    def launch(*_):
        raise OSError("no room for brokers")

    monkeypatch.setattr(cloud.state(Launcher), "launch", launch)
    arn = kafka.create_cluster(**describe_request(subnets))["ClusterArn"]
    shown = wait_for(kafka, arn, "FAILED")
    assert shown["StateInfo"]["Message"] == "no room for brokers"
    assert refusal(kafka.get_bootstrap_brokers, ClusterArn=arn) == (
        "ConflictException",
        "The cluster has no brokers; it is FAILED",
    )
    kafka.delete_cluster(ClusterArn=arn)
    _await_end(kafka, arn)


def test_each_login_has_its_port(kafka, make_cluster):
    arn = make_cluster()["ClusterArn"]
    shown = kafka.get_bootstrap_brokers(ClusterArn=arn)
    names = [broker["Endpoints"][0] for broker in list_brokers(kafka, arn)]
    assert shown["BootstrapBrokerStringSaslScram"] == ",".join(f"{name}:9096" for name in names)
    assert shown["BootstrapBrokerStringSaslIam"] == ",".join(f"{name}:9098" for name in names)
    assert "BootstrapBrokerStringTls" not in shown


def test_without_logins_there_is_tls_and_plaintext_when_asked(kafka, make_cluster):
    shown = make_cluster(
        ClientAuthentication={"Unauthenticated": {"Enabled": True}},
        EncryptionInfo={"EncryptionInTransit": {"ClientBroker": "TLS_PLAINTEXT"}},
    )
    shown = kafka.get_bootstrap_brokers(ClusterArn=shown["ClusterArn"])
    assert shown["BootstrapBrokerStringTls"].endswith(":9094")
    assert shown["BootstrapBrokerString"].endswith(":9092")


def test_names_are_those_of_msk_and_interfaces_are_in_the_subnets(kafka, client, make_cluster):
    shown = make_cluster()
    number = shown["ClusterArn"].rpartition("-")[2]
    for broker_id, info in enumerate(list_brokers(kafka, shown["ClusterArn"]), start=1):
        assert info["BrokerId"] == broker_id
        head, cluster, _, label, *rest = info["Endpoints"][0].split(".")
        assert (head, cluster, label) == (f"b-{broker_id}", shown["ClusterName"], f"c{number}")
        assert rest == ["kafka", "eu-central-1", "amazonaws", "com"]
        interface = client("ec2").describe_network_interfaces(
            NetworkInterfaceIds=[info["AttachedENIId"]]
        )["NetworkInterfaces"][0]
        assert interface["SubnetId"] == info["ClientSubnet"]
        assert interface["PrivateIpAddress"] == info["ClientVpcIpAddress"]
        assert info["ClientVpcIpAddress"].startswith(f"10.1.{broker_id - 1}.")
        groups = [group["GroupId"] for group in interface["Groups"]]
        assert groups == shown["BrokerNodeGroupInfo"]["SecurityGroups"]


@pytest.mark.parametrize(("version", "count"), [("3.9.x.kraft", 3), ("3.9.x", 0)])
def test_the_controllers_of_a_cluster_are_nodes_without_a_place(
    kafka, make_cluster, version, count
):
    shown = make_cluster(KafkaVersion=version)
    nodes = kafka.list_nodes(ClusterArn=shown["ClusterArn"])["NodeInfoList"]
    zone = nodes[0]["BrokerNodeInfo"]["Endpoints"][0].partition(".")[2]

    assert nodes[2:] == [
        {"ControllerNodeInfo": {"Endpoints": [f"c-1000{number}.{zone}"]}}
        for number in range(1, count + 1)
    ]


def test_lists_are_filtered_by_name_and_cut_into_pages(kafka, make_cluster):
    names = sorted(make_cluster()["ClusterName"] for _ in range(3))
    found = kafka.list_clusters(ClusterNameFilter=names[0])["ClusterInfoList"]
    assert [cluster["ClusterName"] for cluster in found] == [names[0]]
    pages = kafka.get_paginator("list_clusters_v2").paginate(PaginationConfig={"PageSize": 2})
    listed = [c["ClusterName"] for page in pages for c in page["ClusterInfoList"]]
    assert set(names) <= set(listed)
    assert len(listed) == len(set(listed))
    # Other tests may have serverless ones.
    serverless = kafka.list_clusters_v2(ClusterTypeFilter="SERVERLESS")["ClusterInfoList"]
    assert {cluster["ClusterName"] for cluster in serverless}.isdisjoint(names)


@pytest.mark.parametrize("name", ["list_clusters", "list_clusters_v2", "list_vpc_connections"])
def test_a_list_goes_on_only_where_it_stopped(kafka, name):
    code, message = refusal(getattr(kafka, name), NextToken="x")
    assert code == "BadRequestException"
    assert message == "The NextToken 'x' is unknown"


def test_another_account_sees_nothing(client, make_cluster):
    arn = make_cluster()["ClusterArn"]
    other = client("kafka", account="222222222222")
    assert arn not in {c["ClusterArn"] for c in other.list_clusters()["ClusterInfoList"]}
    code, message = refusal(other.describe_cluster, ClusterArn=arn)
    assert code == "ForbiddenException"
    assert "does not allow kafka:DescribeCluster for account 222222222222" in message
    assert "is for the owner of the cluster" in _refusal_of_a_friend(client, arn)


def _refusal_of_a_friend(client, arn):
    policy = (
        '{"Statement": {"Effect": "Allow", "Principal": {"AWS": "222222222222"},'
        ' "Action": "kafka:*", "Resource": "*"}}'
    )
    client("kafka").put_cluster_policy(ClusterArn=arn, Policy=policy)
    other = client("kafka", account="222222222222")
    assert other.describe_cluster(ClusterArn=arn)["ClusterInfo"]["State"] == "ACTIVE"
    return refusal(other.delete_cluster, ClusterArn=arn)[1]


@pytest.mark.parametrize(
    "name",
    ["describe_cluster", "describe_cluster_v2", "list_nodes", "get_bootstrap_brokers"],
)
def test_unknown_clusters_are_not_found(kafka, name):
    code, message = refusal(getattr(kafka, name), ClusterArn=_UNKNOWN)
    assert code == "NotFoundException"
    assert message == f"The requested resource doesn't exist: {_UNKNOWN}"


def test_an_invalid_arn_is_a_bad_request(kafka):
    code, message = refusal(kafka.describe_cluster, ClusterArn="none")
    assert (code, message) == (
        "BadRequestException",
        "The parameter is not valid: 'none' is not the ARN of a cluster",
    )


def test_only_the_current_version_can_be_deleted(kafka, make_cluster):
    arn = make_cluster()["ClusterArn"]
    code, message = refusal(kafka.delete_cluster, ClusterArn=arn, CurrentVersion="K0")
    assert code == "BadRequestException"
    assert message.endswith("not K0")


def test_tags_are_set_and_taken_away(kafka, make_cluster):
    arn = make_cluster(Tags={"a": "1"})["ClusterArn"]
    kafka.tag_resource(ResourceArn=arn, Tags={"b": "2"})
    kafka.untag_resource(ResourceArn=arn, TagKeys=["a", "unknown"])
    assert kafka.list_tags_for_resource(ResourceArn=arn)["Tags"] == {"b": "2"}
    for call, params in [
        (kafka.tag_resource, {"Tags": {}}),
        (kafka.untag_resource, {"TagKeys": ["a"]}),
        (kafka.list_tags_for_resource, {}),
    ]:
        assert refusal(call, ResourceArn=_UNKNOWN, **params)[0] == "NotFoundException"


def test_versions_are_listed(kafka, make_cluster):
    versions = [each["Version"] for each in kafka.list_kafka_versions()["KafkaVersions"]]
    assert "3.9.x.kraft" in versions
    arn = make_cluster(KafkaVersion="3.9.x")["ClusterArn"]
    found = kafka.get_compatible_kafka_versions(ClusterArn=arn)["CompatibleKafkaVersions"]
    assert found == [{"SourceVersion": "3.9.x", "TargetVersions": []}]
    found = kafka.get_compatible_kafka_versions()["CompatibleKafkaVersions"]
    by_source = {each["SourceVersion"]: each["TargetVersions"] for each in found}
    assert by_source["3.9.x.kraft"] == ["4.0.x.kraft", "4.1.x.kraft"]
    assert refusal(kafka.list_kafka_versions, NextToken="x")[0] == "BadRequestException"
    code, _ = refusal(kafka.get_compatible_kafka_versions, ClusterArn=_UNKNOWN)
    assert code == "NotFoundException"


def test_the_rest_of_localcloud_sees_brokers_and_their_addresses(cloud, make_cluster):
    shown = make_cluster()
    found = next(c for c in ClusterDirectory(cloud).clusters() if c.arn == shown["ClusterArn"])
    assert found.account == "111111111111"
    assert found.ports == {"SCRAM": 9096, "IAM": 9098}
    assert [node.loopback_address for node in found.nodes] == ["127.99.99.1", "127.99.99.2"]
    plugged = cloud.state(Nodes).behind(found.nodes[0].interface_id)
    assert (plugged.name, plugged.address) == (found.nodes[0].name, "127.99.99.1")


def _await_end(kafka, arn):
    wait_until(f"{arn} is gone", lambda: is_gone(kafka.describe_cluster, ClusterArn=arn), 60)
