"""Cluster policies, and the VPC connections of other accounts that they let in."""

from __future__ import annotations

import json

import pytest

from tests.kafka.changing import update
from tests.kafka.requests import open_to_vpcs
from tests.refusals import refusal

_CONSUMER = "222222222222"


def test_a_policy_is_set_replaced_and_deleted(kafka, make_cluster):
    arn = make_cluster()["ClusterArn"]
    code, message = refusal(kafka.get_cluster_policy, ClusterArn=arn)
    assert (code, message) == ("NotFoundException", f"No policy exists for the cluster {arn}")

    first = kafka.put_cluster_policy(ClusterArn=arn, Policy=_policy(arn))["CurrentVersion"]
    shown = kafka.get_cluster_policy(ClusterArn=arn)
    assert (shown["Policy"], shown["CurrentVersion"]) == (_policy(arn), first)
    second = kafka.put_cluster_policy(ClusterArn=arn, Policy=_policy(arn), CurrentVersion=first)
    code, message = refusal(
        kafka.put_cluster_policy, ClusterArn=arn, Policy=_policy(arn), CurrentVersion=first
    )
    assert code == "BadRequestException"
    assert message == f"The version of the policy is {second['CurrentVersion']}, not {first}"

    kafka.delete_cluster_policy(ClusterArn=arn)
    assert refusal(kafka.delete_cluster_policy, ClusterArn=arn)[0] == "NotFoundException"


@pytest.mark.parametrize("policy", ["{", "[]", "{}", '{"Statement": [{"Effect": "Allow"}]}'])
def test_an_invalid_policy_is_rejected(kafka, make_cluster, policy):
    arn = make_cluster()["ClusterArn"]
    code, message = refusal(kafka.put_cluster_policy, ClusterArn=arn, Policy=policy)
    assert code == "BadRequestException"
    assert message.startswith("The policy is not a JSON document whose statements have Effect")


def test_a_connection_from_another_account_needs_the_policy(open_cluster, kafka, client, place):
    arn = open_cluster()
    consumer = client("kafka", account=_CONSUMER)
    given = _connection(arn, place)
    code, message = refusal(consumer.create_vpc_connection, **given)
    assert code == "ForbiddenException"
    assert message.endswith(f"does not allow kafka:CreateVpcConnection for account {_CONSUMER}")

    kafka.put_cluster_policy(ClusterArn=arn, Policy=_policy(arn))
    made = consumer.create_vpc_connection(**given)["VpcConnectionArn"]

    shown = consumer.describe_vpc_connection(Arn=made)
    assert (shown["State"], shown["TargetClusterArn"]) == ("AVAILABLE", arn)
    assert shown["Subnets"] == given["ClientSubnets"]
    listed = consumer.list_vpc_connections()["VpcConnections"]
    assert made in {each["VpcConnectionArn"] for each in listed}
    (seen,) = kafka.list_client_vpc_connections(ClusterArn=arn)["ClientVpcConnections"]
    assert (seen["VpcConnectionArn"], seen["Owner"]) == (made, _CONSUMER)
    answer = consumer.get_bootstrap_brokers(ClusterArn=arn)
    assert answer["BootstrapBrokerStringVpcConnectivitySaslIam"].split(",")[1].endswith(":14002")

    kafka.reject_client_vpc_connection(ClusterArn=arn, VpcConnectionArn=made)
    assert consumer.describe_vpc_connection(Arn=made)["State"] == "REJECTED"
    assert consumer.delete_vpc_connection(Arn=made)["State"] == "DELETING"
    for call in (consumer.describe_vpc_connection, consumer.delete_vpc_connection):
        assert refusal(call, Arn=made)[0] == "NotFoundException"
    code, message = refusal(
        kafka.reject_client_vpc_connection, ClusterArn=arn, VpcConnectionArn=made
    )
    assert (code, message) == ("ForbiddenException", f"{made} is not a connection to {arn}")


def test_an_undecidable_policy_denies_everybody(kafka, make_cluster, client):
    arn = make_cluster()["ClusterArn"]
    (statement,) = json.loads(_policy(arn))["Statement"]
    statement["Condition"] = {"StringEquals": {"aws:PrincipalAccount": "${a}"}}
    kafka.put_cluster_policy(ClusterArn=arn, Policy=json.dumps({"Statement": [statement]}))

    consumer = client("kafka", account=_CONSUMER)
    code, message = refusal(consumer.describe_cluster, ClusterArn=arn)

    assert code == "ForbiddenException"
    said = "localcloud does not know the policy variable ${a}"
    assert message == f"{said}: kafka:DescribeCluster is refused"


def test_connections_that_do_not_fit_are_refused(open_cluster, make_cluster, client, place):
    arn = open_cluster()
    client("kafka").put_cluster_policy(ClusterArn=arn, Policy=_policy(arn))
    consumer = client("kafka", account=_CONSUMER)
    given = _connection(arn, place)
    _, message = refusal(consumer.create_vpc_connection, **given | {"Authentication": "SASL_SCRAM"})
    assert message == "The cluster has no VPC connectivity with SASL_SCRAM; it has IAM"
    _, message = refusal(consumer.create_vpc_connection, **given | {"VpcId": "vpc-1"})
    assert message == "The client subnets are not in vpc-1"
    closed = make_cluster()["ClusterArn"]
    _, message = refusal(
        client("kafka").create_vpc_connection, **given | {"TargetClusterArn": closed}
    )
    assert message == "The cluster has no VPC connectivity with SASL_IAM; it has none"
    code, _ = refusal(client("kafka").list_client_vpc_connections, ClusterArn=closed + "0")
    assert code == "NotFoundException"


def test_a_role_that_the_policy_names_must_exist(kafka, make_cluster):
    arn = make_cluster()["ClusterArn"]
    policy = _policy(arn).replace(":root", ":role/nobody")
    assert refusal(kafka.put_cluster_policy, ClusterArn=arn, Policy=policy) == (
        "BadRequestException",
        "The cluster policy is not valid. The IAM Principal was not found.",
    )


@pytest.fixture
def open_cluster(kafka, make_cluster):
    """Make a cluster that VPC connections with IAM may reach; returns its ARN."""

    def make():
        shown = make_cluster()
        update(kafka, "update_connectivity", shown, ConnectivityInfo=open_to_vpcs("Iam"))
        return shown["ClusterArn"]

    return make


def _connection(arn, place):
    vpc, subnets = place(_CONSUMER)
    return {
        "TargetClusterArn": arn,
        "Authentication": "SASL_IAM",
        "VpcId": vpc,
        "ClientSubnets": subnets,
        "SecurityGroups": [],
    }


def _policy(arn):
    statement = {
        "Effect": "Allow",
        "Principal": {"AWS": f"arn:aws:iam::{_CONSUMER}:root"},
        "Action": [
            "kafka:CreateVpcConnection",
            "kafka:GetBootstrapBrokers",
            "kafka:DescribeCluster",
        ],
        "Resource": arn,
    }
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})
