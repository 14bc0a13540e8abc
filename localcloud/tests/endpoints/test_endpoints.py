"""Endpoints of the consumer: each operation's effect, seen by another one, and a refusal."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError

from localcloud.network import find_path
from tests.account_ids import CONSUMER, PRODUCER, STRANGER
from tests.refusals import code_of
from tests.two_accounts import PORT
from tests.vpcs import make_vpc

ZONE = "endpoints.abc123.c1.kafka.eu-central-1.amazonaws.com"


@pytest.fixture
def waiting(accounts, broker):
    """An endpoint more, which nobody has accepted yet."""
    accepted = broker.endpoint, broker.alias
    yield accounts.make_endpoint(broker, accept=False)
    accounts.ec2[CONSUMER].delete_vpc_endpoints(VpcEndpointIds=[broker.endpoint])
    broker.endpoint, broker.alias = accepted


def state_of(accounts, endpoint):
    found = accounts.ec2[CONSUMER].describe_vpc_endpoints(VpcEndpointIds=[endpoint])
    return found["VpcEndpoints"][0]["State"]


def test_an_endpoint_waits_until_it_is_accepted(accounts, broker, waiting):
    assert state_of(accounts, waiting["VpcEndpointId"]) == "pendingAcceptance"

    assert accounts.accept(broker)["Unsuccessful"] == []

    assert state_of(accounts, waiting["VpcEndpointId"]) == "available"


def test_an_endpoint_is_described_as_it_was_made(accounts, broker, waiting):
    assert waiting["ServiceName"] == broker.service_name
    assert waiting["SubnetIds"] == accounts.subnets[CONSUMER]
    assert waiting["Groups"] == [{"GroupId": accounts.groups["endpoint"], "GroupName": "endpoint"}]
    assert waiting["PrivateDnsEnabled"] is False
    name = waiting["DnsEntries"][0]["DnsName"]
    assert name.startswith(f"{waiting['VpcEndpointId']}-")
    assert name.endswith(f".{broker.service}.eu-central-1.vpce.amazonaws.com")


def test_without_groups_an_endpoint_has_the_default_one(accounts):
    ec2 = accounts.ec2[CONSUMER]
    made = ec2.create_vpc_endpoint(
        VpcEndpointType="Interface",
        VpcId=accounts.vpcs[CONSUMER],
        ServiceName="com.amazonaws.eu-central-1.sts",
        SubnetIds=accounts.subnets[CONSUMER],
    )["VpcEndpoint"]

    assert [group["GroupName"] for group in made["Groups"]] == ["default"]
    assert made["State"] == "available"
    assert made["PrivateDnsEnabled"] is True


def make_for_service(accounts, name, **settings):
    return accounts.ec2[CONSUMER].create_vpc_endpoint(
        VpcEndpointType="Interface",
        VpcId=accounts.vpcs[CONSUMER],
        ServiceName=f"com.amazonaws.eu-central-1.{name}",
        SubnetIds=accounts.subnets[CONSUMER],
        **settings,
    )["VpcEndpoint"]


def test_a_service_that_aws_does_not_have_is_refused(accounts):
    for name in ("nonsense", "kinesis"):
        with pytest.raises(ClientError, match=f"-1.{name}' does not exist") as refused:
            make_for_service(accounts, name)
        assert code_of(refused) == "InvalidServiceName"


def test_one_vpc_has_one_endpoint_with_private_dns_for_a_service(accounts):
    make_for_service(accounts, "kms")
    with pytest.raises(ClientError, match="already a conflicting DNS domain for kms") as refused:
        make_for_service(accounts, "kms")
    assert code_of(refused) == "InvalidParameter"
    assert make_for_service(accounts, "kms", PrivateDnsEnabled=False)["State"] == "available"


def test_an_account_that_is_not_allowed_sees_no_service(accounts, broker, client):
    ec2 = client("ec2", STRANGER)
    vpc = make_vpc(ec2, "10.7.0.0/16")

    with pytest.raises(ClientError) as refused:
        ec2.create_vpc_endpoint(
            VpcEndpointType="Interface", VpcId=vpc, ServiceName=broker.service_name
        )

    assert code_of(refused) == "InvalidServiceName"
    assert f"The Vpc Endpoint Service '{broker.service_name}' does not exist" in str(refused.value)


def test_the_owner_needs_no_permission(accounts, broker):
    made = accounts.ec2[PRODUCER].create_vpc_endpoint(
        VpcEndpointType="Interface",
        VpcId=accounts.vpcs[PRODUCER],
        ServiceName=broker.service_name,
        SubnetIds=accounts.subnets[PRODUCER],
    )["VpcEndpoint"]

    assert made["State"] == "pendingAcceptance"
    accounts.ec2[PRODUCER].delete_vpc_endpoints(VpcEndpointIds=[made["VpcEndpointId"]])


def test_a_subnet_must_be_where_the_load_balancer_is(accounts, broker):
    elsewhere = accounts.ec2[CONSUMER].create_subnet(
        VpcId=accounts.vpcs[CONSUMER], CidrBlock="10.1.9.0/24", AvailabilityZone="eu-central-1c"
    )["Subnet"]["SubnetId"]

    with pytest.raises(ClientError, match="does not support the availability zone") as refused:
        accounts.ec2[CONSUMER].create_vpc_endpoint(
            VpcEndpointType="Interface",
            VpcId=accounts.vpcs[CONSUMER],
            ServiceName=broker.service_name,
            SubnetIds=[elsewhere],
        )

    assert code_of(refused) == "InvalidParameter"


def test_private_dns_is_not_for_a_service_without_a_name(accounts, broker):
    with pytest.raises(ClientError, match="Private DNS can't be enabled") as refused:
        accounts.ec2[CONSUMER].create_vpc_endpoint(
            VpcEndpointType="Interface",
            VpcId=accounts.vpcs[CONSUMER],
            ServiceName=broker.service_name,
            PrivateDnsEnabled=True,
        )

    assert code_of(refused) == "InvalidParameter"


def test_moto_answers_for_a_gateway_endpoint(accounts):
    made = accounts.ec2[CONSUMER].create_vpc_endpoint(
        VpcId=accounts.vpcs[CONSUMER], ServiceName="com.amazonaws.eu-central-1.s3"
    )["VpcEndpoint"]

    assert made["State"] == "available"


def test_a_rejected_endpoint_is_cut_off_and_can_be_accepted_again(accounts, broker):
    assert accounts.reject(broker)["Unsuccessful"] == []
    assert state_of(accounts, broker.endpoint) == "rejected"

    accounts.accept(broker)

    assert find_path(accounts.nodes, accounts.source, broker.host, PORT)


@pytest.mark.parametrize("decide", ["accept", "reject"])
def test_only_an_endpoint_of_the_service_can_be_decided_on(accounts, broker, decide):
    call = getattr(accounts.ec2[PRODUCER], f"{decide}_vpc_endpoint_connections")

    failed = call(ServiceId=broker.service, VpcEndpointIds=["vpce-0"])["Unsuccessful"]

    assert failed == [
        {
            "ResourceId": "vpce-0",
            "Error": {
                "Code": "InvalidVpcEndpointId.NotFound",
                "Message": "The Vpc Endpoint Id 'vpce-0' does not exist",
            },
        }
    ]
    with pytest.raises(ClientError) as refused:
        call(ServiceId="vpce-svc-0", VpcEndpointIds=[broker.endpoint])
    assert code_of(refused) == "InvalidVpcEndpointServiceId.NotFound"


def test_an_accepted_endpoint_is_not_accepted_twice(accounts, broker):
    failed = accounts.accept(broker)["Unsuccessful"]

    assert failed[0]["Error"] == {
        "Code": "InvalidState",
        "Message": f"The Vpc Endpoint '{broker.endpoint}' is available",
    }


@pytest.mark.parametrize("attribute", ["EnableDnsHostnames", "EnableDnsSupport"])
def test_private_dns_needs_both_dns_attributes_of_the_vpc(accounts, attribute):
    ec2 = accounts.ec2[CONSUMER]
    vpc = make_vpc(ec2, "10.6.0.0/16")
    ec2.modify_vpc_attribute(VpcId=vpc, **{attribute: {"Value": False}})
    asked = {"VpcId": vpc, "VpcEndpointType": "Interface"}
    asked["ServiceName"] = "com.amazonaws.eu-central-1.sqs"

    with pytest.raises(ClientError, match=f"attributes set to true for {vpc}"):
        ec2.create_vpc_endpoint(**asked)

    ec2.create_vpc_endpoint(**asked, PrivateDnsEnabled=False)
