"""Changes of a cluster and what operations tell of them; no broker is started."""

from __future__ import annotations

import time

import pytest

from tests.localcloud.kafka.conftest import wait_for
from tests.localcloud.refusals import refusal

_UNKNOWN = "arn:aws:kafka:eu-central-1:111111111111:cluster-operation/c/u/o-1"


def test_brokers_are_added_and_the_old_ones_stay(kafka, make_cluster, pretended):
    shown = make_cluster()
    before = _nodes(kafka, shown)

    operation = _update(kafka, "update_broker_count", shown, TargetNumberOfBrokerNodes=4)

    assert operation["OperationType"] == "INCREASE_BROKER_COUNT"
    assert operation["SourceClusterInfo"]["NumberOfBrokerNodes"] == 2
    assert operation["TargetClusterInfo"]["NumberOfBrokerNodes"] == 4
    after = _nodes(kafka, shown)
    assert after[:2] == before
    assert [node["BrokerNodeInfo"]["BrokerId"] for node in after] == [1, 2, 3, 4]
    assert after[2]["BrokerNodeInfo"]["ClientSubnet"] == before[0]["BrokerNodeInfo"]["ClientSubnet"]
    zones = {3: "eu-central-1a", 4: "eu-central-1b"}
    assert pretended[shown["ClusterName"]].done == [("add", zones)]


def test_broker_counts_that_do_not_fit_are_refused(kafka, make_cluster):
    shown = make_cluster()
    message = _refuse(kafka, "update_broker_count", shown, TargetNumberOfBrokerNodes=3)
    assert "must be a multiple of Availability Zones" in message
    message = _refuse(kafka, "update_broker_count", shown, TargetNumberOfBrokerNodes=2)
    assert message == "The cluster has 2 brokers; give more than that, not 2"


def test_brokers_that_do_not_come_up_are_no_nodes(kafka, make_cluster, pretended):
    shown = make_cluster()
    pretended[shown["ClusterName"]].fails = OSError("no room for more")
    operation = _update(
        kafka, "update_broker_count", shown, TargetNumberOfBrokerNodes=4, ends="UPDATE_FAILED"
    )
    assert operation["ErrorInfo"]["ErrorString"] == "no room for more"
    assert len(_nodes(kafka, shown)) == 2


def test_volumes_grow(kafka, make_cluster):
    shown = make_cluster()
    all_of = {"KafkaBrokerNodeId": "All"}
    _update(
        kafka,
        "update_broker_storage",
        shown,
        TargetBrokerEBSVolumeInfo=[all_of | {"VolumeSizeGB": 200}],
    )
    assert _volume(kafka, shown)["VolumeSize"] == 200
    shown = wait_for(kafka, shown["ClusterArn"])
    _update(kafka, "update_storage", shown, VolumeSizeGB=300)
    assert _volume(kafka, shown)["VolumeSize"] == 300

    shown = wait_for(kafka, shown["ClusterArn"])
    message = _refuse(kafka, "update_storage", shown, VolumeSizeGB=100)
    assert message == "A volume can only grow; it has 300 GiB"
    message = _refuse(kafka, "update_storage", shown, StorageMode="TIERED")
    assert message == "localcloud has no tiered storage; StorageMode must be LOCAL"
    volumes = [{"KafkaBrokerNodeId": "1", "VolumeSizeGB": 400}]
    message = _refuse(kafka, "update_broker_storage", shown, TargetBrokerEBSVolumeInfo=volumes)
    assert message == "The volumes of all brokers change together: KafkaBrokerNodeId ALL"


def test_the_instance_type_changes(kafka, make_cluster):
    shown = make_cluster()
    _update(kafka, "update_broker_type", shown, TargetInstanceType="kafka.m7g.xlarge")
    shown = wait_for(kafka, shown["ClusterArn"])
    assert shown["BrokerNodeGroupInfo"]["InstanceType"] == "kafka.m7g.xlarge"
    message = _refuse(kafka, "update_broker_type", shown, TargetInstanceType="kafka.m7g.xlarge")
    assert message == "The brokers are of type kafka.m7g.xlarge already"
    message = _refuse(kafka, "update_broker_type", shown, TargetInstanceType="t3.small")
    assert message == "Unsupported InstanceType [t3.small]"


def test_a_configuration_reaches_the_brokers(kafka, make_cluster, make_configuration, pretended):
    first = make_configuration("num.partitions=5")
    shown = make_cluster(ConfigurationInfo={"Arn": first, "Revision": 1})
    brokers = pretended[shown["ClusterName"]]
    assert brokers.properties == {"num.partitions": "5"}

    kafka.update_configuration(Arn=first, ServerProperties=b"num.partitions = 7\n")
    wanted = {"Arn": first, "Revision": 2}
    operation = _update(kafka, "update_cluster_configuration", shown, ConfigurationInfo=wanted)

    assert operation["SourceClusterInfo"]["ConfigurationInfo"]["Revision"] == 1
    assert operation["TargetClusterInfo"]["ConfigurationInfo"]["Revision"] == 2
    assert brokers.properties == {"num.partitions": "7"}
    software = wait_for(kafka, shown["ClusterArn"])["CurrentBrokerSoftwareInfo"]
    assert software["ConfigurationRevision"] == 2


def test_configurations_that_do_not_fit_are_refused(kafka, make_cluster, make_configuration):
    shown = make_cluster()
    other = make_configuration("", KafkaVersions=["3.6.0"])
    message = _refuse(
        kafka,
        "update_cluster_configuration",
        shown,
        ConfigurationInfo={"Arn": other, "Revision": 1},
    )
    assert message == f"The configuration {other} is for Kafka 3.6.0, not 3.9.x.kraft"
    message = _refuse(
        kafka,
        "update_cluster_configuration",
        shown,
        ConfigurationInfo={"Arn": other, "Revision": 2},
    )
    assert message == "The configuration has no revision 2; the latest is 1"


def test_what_brokers_refuse_fails_the_operation_alone(
    kafka, make_cluster, make_configuration, pretended
):
    shown = make_cluster()
    pretended[shown["ClusterName"]].fails = ValueError("no such number")
    wanted = {"Arn": make_configuration("num.partitions=many"), "Revision": 1}
    operation = _update(
        kafka, "update_cluster_configuration", shown, ConfigurationInfo=wanted, ends="UPDATE_FAILED"
    )
    assert operation["ErrorInfo"] == {
        "ErrorCode": "OperationFailed",
        "ErrorString": "no such number",
    }
    after = wait_for(kafka, shown["ClusterArn"])
    assert after["CurrentVersion"] == shown["CurrentVersion"]
    assert "ConfigurationArn" not in after["CurrentBrokerSoftwareInfo"]


def test_the_version_of_kafka_goes_up_only(kafka, make_cluster, make_configuration):
    shown = make_cluster()
    wanted = {"Arn": make_configuration("num.partitions=3"), "Revision": 1}
    _update(
        kafka,
        "update_cluster_kafka_version",
        shown,
        TargetKafkaVersion="4.0.x.kraft",
        ConfigurationInfo=wanted,
    )
    shown = wait_for(kafka, shown["ClusterArn"])
    assert shown["CurrentBrokerSoftwareInfo"]["KafkaVersion"] == "4.0.x.kraft"
    assert shown["CurrentBrokerSoftwareInfo"]["ConfigurationArn"] == wanted["Arn"]
    message = _refuse(
        kafka, "update_cluster_kafka_version", shown, TargetKafkaVersion="3.9.x.kraft"
    )
    assert message == "Kafka 4.0.x.kraft cannot be updated to 3.9.x.kraft"


def test_logins_open_and_close_listeners(kafka, make_cluster, pretended):
    shown = make_cluster()
    scram = {"Sasl": {"Scram": {"Enabled": True}, "Iam": {"Enabled": False}}}
    _update(kafka, "update_security", shown, ClientAuthentication=scram)
    assert pretended[shown["ClusterName"]].listeners == {"SCRAM"}
    answer = kafka.get_bootstrap_brokers(ClusterArn=shown["ClusterArn"])
    assert "BootstrapBrokerStringSaslIam" not in answer
    message = _refuse(
        kafka,
        "update_security",
        wait_for(kafka, shown["ClusterArn"]),
        ClientAuthentication={"Tls": {"Enabled": True}},
    )
    assert "localcloud has no TLS client authentication" in message


def test_connectivity_opens_for_enabled_logins(kafka, make_cluster):
    scram = {"Sasl": {"Scram": {"Enabled": True}}}
    shown = make_cluster(ClientAuthentication=scram)
    _update(kafka, "update_connectivity", shown, ConnectivityInfo=_vpc(scram))
    answer = kafka.get_bootstrap_brokers(ClusterArn=shown["ClusterArn"])
    first = answer["BootstrapBrokerStringVpcConnectivitySaslScram"].split(",")[0]
    assert first.startswith(f"b-1.scram.{shown['ClusterName']}.")
    assert first.endswith(":14001")

    shown = wait_for(kafka, shown["ClusterArn"])
    iam = {"Sasl": {"Iam": {"Enabled": True}}}
    message = _refuse(kafka, "update_connectivity", shown, ConnectivityInfo=_vpc(iam))
    assert message == (
        "VPC connectivity with IAM needs the same way to log in enabled for the cluster"
    )
    public = {"PublicAccess": {"Type": "SERVICE_PROVIDED_EIPS"}}
    message = _refuse(kafka, "update_connectivity", shown, ConnectivityInfo=public)
    assert message == "localcloud has no public access to brokers"


def test_monitoring_is_shown(kafka, make_cluster):
    shown = make_cluster()
    _update(kafka, "update_monitoring", shown, EnhancedMonitoring="PER_BROKER")
    shown = wait_for(kafka, shown["ClusterArn"])
    assert shown["EnhancedMonitoring"] == "PER_BROKER"
    message = _refuse(kafka, "update_monitoring", shown)
    assert message == "Specify EnhancedMonitoring, OpenMonitoring or LoggingInfo"


def test_brokers_are_rebooted(kafka, make_cluster, pretended):
    shown = make_cluster()
    arn = shown["ClusterArn"]
    answer = kafka.reboot_broker(ClusterArn=arn, BrokerIds=["2"])
    _wait_operation(kafka, answer["ClusterOperationArn"])
    assert pretended[shown["ClusterName"]].done == [("restart", 2)]
    code, message = refusal(kafka.reboot_broker, ClusterArn=arn, BrokerIds=["9"])
    assert code == "BadRequestException"
    assert message == f"{shown['ClusterName']} has no broker 9; there are 1, 2"


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("update_broker_count", {"TargetNumberOfBrokerNodes": 4}),
        ("update_storage", {"VolumeSizeGB": 1000}),
        ("update_monitoring", {"EnhancedMonitoring": "PER_BROKER"}),
        ("update_connectivity", {"ConnectivityInfo": {}}),
        ("update_broker_type", {"TargetInstanceType": "kafka.m7g.2xlarge"}),
    ],
)
def test_a_change_needs_the_current_version(kafka, make_cluster, name, params):
    shown = make_cluster()
    message = _refuse(kafka, name, shown | {"CurrentVersion": "K0"}, **params)
    assert message.endswith(f"in the request: {shown['CurrentVersion']}, not K0")


def test_one_change_at_a_time(kafka, make_cluster, pretended):
    shown = make_cluster()
    brokers = pretended[shown["ClusterName"]]
    messages = []
    brokers.restart = lambda _: messages.append(
        _refuse(kafka, "update_monitoring", shown, EnhancedMonitoring="PER_BROKER")
    )
    arn = kafka.reboot_broker(ClusterArn=shown["ClusterArn"], BrokerIds=["1"])
    _wait_operation(kafka, arn["ClusterOperationArn"])
    assert messages == ["The cluster must be ACTIVE for this; it is REBOOTING_BROKER"]


def test_operations_are_listed_in_both_forms(kafka, make_cluster):
    shown = make_cluster()
    arn = shown["ClusterArn"]
    operation = _update(kafka, "update_monitoring", shown, EnhancedMonitoring="PER_BROKER")
    found = kafka.list_cluster_operations(ClusterArn=arn)["ClusterOperationInfoList"]
    assert [each["OperationArn"] for each in found] == [operation["OperationArn"]]
    found = kafka.list_cluster_operations_v2(ClusterArn=arn)["ClusterOperationInfoList"]
    assert found[0]["OperationState"] == "UPDATE_COMPLETE"
    found = kafka.describe_cluster_operation_v2(ClusterOperationArn=operation["OperationArn"])
    details = found["ClusterOperationInfo"]["Provisioned"]
    assert details["TargetClusterInfo"]["EnhancedMonitoring"] == "PER_BROKER"
    for call in (kafka.describe_cluster_operation, kafka.describe_cluster_operation_v2):
        assert refusal(call, ClusterOperationArn=_UNKNOWN)[0] == "NotFoundException"
    for call in (kafka.list_cluster_operations, kafka.list_cluster_operations_v2):
        assert refusal(call, ClusterArn=arn + "0")[0] == "NotFoundException"


def _update(kafka, name, shown, *, ends="UPDATE_COMPLETE", **params):
    """Change a cluster and wait for the end; returns what the operation shows."""
    answer = getattr(kafka, name)(
        ClusterArn=shown["ClusterArn"], CurrentVersion=shown["CurrentVersion"], **params
    )
    return _wait_operation(kafka, answer["ClusterOperationArn"], ends)


def _wait_operation(kafka, arn, ends="UPDATE_COMPLETE"):
    deadline = time.monotonic() + 10
    while True:
        shown = kafka.describe_cluster_operation(ClusterOperationArn=arn)["ClusterOperationInfo"]
        if shown["OperationState"] == ends:
            return shown
        assert time.monotonic() < deadline, f"not {ends}: {shown}"
        time.sleep(0.02)


def _refuse(kafka, name, shown, **params):
    code, message = refusal(
        getattr(kafka, name),
        ClusterArn=shown["ClusterArn"],
        CurrentVersion=shown["CurrentVersion"],
        **params,
    )
    assert code == "BadRequestException"
    return message


def _nodes(kafka, shown):
    return kafka.list_nodes(ClusterArn=shown["ClusterArn"])["NodeInfoList"]


def _volume(kafka, shown):
    group = wait_for(kafka, shown["ClusterArn"])["BrokerNodeGroupInfo"]
    return group["StorageInfo"]["EbsStorageInfo"]


def _vpc(login):
    return {"VpcConnectivity": {"ClientAuthentication": login}}
