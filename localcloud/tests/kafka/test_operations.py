"""What operations tell of a change: which one it was, that it failed, that another one is on."""

from __future__ import annotations

import pytest

from tests.kafka.changing import refuse, update, wait_operation
from tests.kafka.requests import wait_for
from tests.refusals import refusal

_UNKNOWN = "arn:aws:kafka:eu-central-1:111111111111:cluster-operation/c/u/o-1"


def test_a_change_that_brokers_reject_fails_only_its_operation(
    kafka, make_cluster, make_configuration, pretended
):
    shown = make_cluster()
    pretended[shown["ClusterName"]].fails = ValueError("no such number")
    wanted = {"Arn": make_configuration("num.partitions=many"), "Revision": 1}
    operation = update(
        kafka, "update_cluster_configuration", shown, ConfigurationInfo=wanted, ends="UPDATE_FAILED"
    )
    assert operation["ErrorInfo"] == {
        "ErrorCode": "OperationFailed",
        "ErrorString": "no such number",
    }
    after = wait_for(kafka, shown["ClusterArn"])
    assert after["CurrentVersion"] == shown["CurrentVersion"]
    assert "ConfigurationArn" not in after["CurrentBrokerSoftwareInfo"]


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
    message = refuse(kafka, name, shown | {"CurrentVersion": "K0"}, **params)
    assert message.endswith(f"in the request: {shown['CurrentVersion']}, not K0")


def test_one_change_at_a_time(kafka, make_cluster, pretended):
    shown = make_cluster()
    brokers = pretended[shown["ClusterName"]]
    messages = []
    brokers.restart = lambda _: messages.append(
        refuse(kafka, "update_monitoring", shown, EnhancedMonitoring="PER_BROKER")
    )
    arn = kafka.reboot_broker(ClusterArn=shown["ClusterArn"], BrokerIds=["1"])
    wait_operation(kafka, arn["ClusterOperationArn"])
    assert messages == ["The cluster must be ACTIVE for this; it is REBOOTING_BROKER"]


def test_operations_are_listed_in_both_forms(kafka, make_cluster):
    shown = make_cluster()
    arn = shown["ClusterArn"]
    operation = update(kafka, "update_monitoring", shown, EnhancedMonitoring="PER_BROKER")
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
