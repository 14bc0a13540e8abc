"""Functions and mappings in a VPC reach what the VPC lets them reach."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError

from localcloud.testing import deploy, invoke, wait_until
from tests.account_ids import CONSUMER
from tests.two_accounts import TwoAccounts

_ASK_STS = """
import boto3
def handler(event, context):
    try:
        return boto3.client("sts").get_caller_identity()["Account"]
    except Exception as error:
        return str(error)
"""
_LOOK_UP = """
import socket
def handler(event, context):
    try:
        return socket.getaddrinfo(event, 443)[0][4][0]
    except OSError as error:
        return type(error).__name__
"""


@pytest.fixture(scope="module")
def vpc(client):
    """A VPC with one subnet: (VPC id, subnet id, security group id)."""
    ec2 = client("ec2")
    made = ec2.create_vpc(CidrBlock="10.77.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=made, CidrBlock="10.77.1.0/24")["Subnet"]["SubnetId"]
    ec2.modify_vpc_attribute(VpcId=made, EnableDnsHostnames={"Value": True})
    group = ec2.create_security_group(VpcId=made, GroupName="lambda", Description="x")["GroupId"]
    rule = {"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}
    ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=[rule])
    return made, subnet, group


def within(vpc):
    """The configuration of a function in a VPC."""
    return {"VpcConfig": {"SubnetIds": [vpc[1]], "SecurityGroupIds": [vpc[2]]}, "Timeout": 20}


def _wait_for_problem(lambda_, mapping):
    def problem():
        result = lambda_.get_event_source_mapping(UUID=mapping)["LastProcessingResult"]
        return result.startswith("PROBLEM: ") and result

    return wait_until("the problem", problem)


def test_a_function_without_vpc_calls_aws(client):
    assert invoke(client, deploy(client, _ASK_STS, Timeout=20)) == ("111111111111", None)


def test_no_function_resolves_a_name_of_the_internet(client):
    name = deploy(client, _LOOK_UP, Timeout=20)
    assert invoke(client, name, "example.org") == ("gaierror", None)


def test_a_function_in_a_vpc_needs_an_endpoint_for_each_service(client, vpc):
    name = deploy(client, _ASK_STS, **within(vpc))
    refused, _ = invoke(client, name)
    assert f"{vpc[0]} has no endpoint for com.amazonaws.eu-central-1.sts" in refused
    client("ec2").create_vpc_endpoint(
        VpcId=vpc[0],
        VpcEndpointType="Interface",
        ServiceName="com.amazonaws.eu-central-1.sts",
        SubnetIds=[vpc[1]],
        SecurityGroupIds=[vpc[2]],
        PrivateDnsEnabled=True,
    )
    assert invoke(client, name) == ("111111111111", None)


def test_a_mapping_in_a_vpc_needs_endpoints_for_its_poller(client, vpc):
    ec2, lambda_ = client("ec2"), client("lambda")
    other = ec2.create_vpc(CidrBlock="10.78.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=other, CidrBlock="10.78.1.0/24")["Subnet"]["SubnetId"]
    mapping = lambda_.create_event_source_mapping(
        FunctionName=deploy(client),
        Topics=["orders"],
        StartingPosition="LATEST",
        SelfManagedEventSource={"Endpoints": {"KAFKA_BOOTSTRAP_SERVERS": ["127.0.0.1:9"]}},
        SourceAccessConfigurations=[{"Type": "VPC_SUBNET", "URI": f"subnet:{subnet}"}],
    )["UUID"]

    said = _wait_for_problem(lambda_, mapping)
    assert f"{other} has no endpoint for com.amazonaws.eu-central-1.sts" in said
    lambda_.delete_event_source_mapping(UUID=mapping)


def test_a_mapping_names_the_missing_hop(cloud, client):
    accounts = TwoAccounts(cloud, client, "mapping.abc123.c1.kafka.eu-central-1.amazonaws.com", 1)
    broker, ec2 = accounts.brokers[0], accounts.ec2[CONSUMER]
    accounts.allow_https()
    for service in ("sts", "lambda", "secretsmanager"):
        ec2.create_vpc_endpoint(
            VpcId=accounts.vpcs[CONSUMER],
            VpcEndpointType="Interface",
            ServiceName=f"com.amazonaws.eu-central-1.{service}",
            SubnetIds=accounts.subnets[CONSUMER],
            SecurityGroupIds=[accounts.groups["endpoint"]],
        )
    accounts.elb.delete_listener(ListenerArn=broker.listener)
    names = {
        "VPC_SUBNET": accounts.subnets[CONSUMER],
        "VPC_SECURITY_GROUP": [accounts.groups["client"]],
    }
    lambda_ = client("lambda", CONSUMER)
    mapping = lambda_.create_event_source_mapping(
        FunctionName=deploy(lambda service: client(service, CONSUMER)),
        Topics=["orders"],
        StartingPosition="LATEST",
        SelfManagedEventSource={"Endpoints": {"KAFKA_BOOTSTRAP_SERVERS": [f"{broker.host}:9096"]}},
        SourceAccessConfigurations=[
            {"Type": kind, "URI": f"{kind.lower()}:{name}"}
            for kind in names
            for name in names[kind]
        ],
    )["UUID"]

    said = _wait_for_problem(lambda_, mapping)
    lambda_.delete_event_source_mapping(UUID=mapping)
    accounts.close()
    assert said.endswith(
        "; load balancer mapping-1 does not listen on 9096 (it does on no port); add a TCP listener"
    )


def test_a_function_in_a_subnet_that_does_not_exist_is_refused(client, vpc):
    config = {"SubnetIds": ["subnet-0000"], "SecurityGroupIds": [vpc[2]]}
    name = deploy(client, VpcConfig=config)
    with pytest.raises(ClientError, match="there is no subnet subnet-0000 in any account"):
        invoke(client, name)
