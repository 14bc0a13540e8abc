"""Endpoint services and endpoints: each operation's effect, seen by another one, and a refusal."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError

from localcloud.network import find_path
from tests.localcloud.two_accounts import CONSUMER, PORT, PRODUCER, TwoAccounts

ZONE = "ec2.abc123.c1.kafka.eu-central-1.amazonaws.com"
STRANGER = "333333333333"


@pytest.fixture(scope="module")
def accounts(cloud, client):
    made = TwoAccounts(cloud, client, ZONE, brokers=1)
    yield made
    made.close()


@pytest.fixture
def broker(accounts):
    return accounts.brokers[0]


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


def code_of(error):
    return error.value.response["Error"]["Code"]


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


def test_an_account_that_is_not_allowed_sees_no_service(accounts, broker, client):
    ec2 = client("ec2", STRANGER)
    vpc = ec2.create_vpc(CidrBlock="10.7.0.0/16")["Vpc"]["VpcId"]

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


def test_a_gateway_endpoint_is_moto_s_affair(accounts):
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


def test_the_owner_sees_who_is_connected(accounts, broker):
    found = accounts.ec2[PRODUCER].describe_vpc_endpoint_connections(
        Filters=[
            {"Name": "service-id", "Values": [broker.service]},
            {"Name": "vpc-endpoint-state", "Values": ["available"]},
        ]
    )["VpcEndpointConnections"]

    assert [(it["VpcEndpointId"], it["VpcEndpointOwner"]) for it in found] == [
        (broker.endpoint, CONSUMER)
    ]
    assert found[0]["NetworkLoadBalancerArns"] == [broker.balancer]
    others = accounts.ec2[PRODUCER].describe_vpc_endpoint_connections(
        Filters=[{"Name": "vpc-endpoint-owner", "Values": [STRANGER]}]
    )
    assert others["VpcEndpointConnections"] == []


def test_an_unknown_filter_is_refused(accounts):
    with pytest.raises(ClientError, match="The filter 'colour' is invalid"):
        accounts.ec2[PRODUCER].describe_vpc_endpoint_connections(
            Filters=[{"Name": "colour", "Values": ["red"]}]
        )


def test_an_added_principal_has_the_same_id_ever_after(accounts, broker):
    principal = f"arn:aws:iam::{STRANGER}:role/reader"

    added = accounts.let_consumer(broker, AddAllowedPrincipals=[principal])["AddedPrincipals"]

    assert [(it["Principal"], it["PrincipalType"]) for it in added] == [(principal, "Role")]
    listed = accounts.ec2[PRODUCER].describe_vpc_endpoint_service_permissions(
        ServiceId=broker.service
    )["AllowedPrincipals"]
    ids = {it["Principal"]: it["ServicePermissionId"] for it in listed}
    assert ids[principal] == added[0]["ServicePermissionId"]
    assert len(set(ids.values())) == 2
    accounts.let_consumer(broker, RemoveAllowedPrincipals=[principal])
    listed = accounts.ec2[PRODUCER].describe_vpc_endpoint_service_permissions(
        ServiceId=broker.service
    )["AllowedPrincipals"]
    assert [it["Principal"] for it in listed] == [f"arn:aws:iam::{CONSUMER}:root"]


def test_a_principal_must_be_one(accounts, broker):
    with pytest.raises(ClientError, match="Invalid Principal: somebody") as refused:
        accounts.let_consumer(broker, AddAllowedPrincipals=["somebody"])

    assert code_of(refused) == "InvalidPrincipal"


@pytest.mark.parametrize("verb", ["modify", "describe"])
def test_an_unknown_service_has_no_permissions(accounts, verb):
    call = getattr(accounts.ec2[PRODUCER], f"{verb}_vpc_endpoint_service_permissions")

    with pytest.raises(ClientError) as refused:
        call(ServiceId="vpce-svc-0")

    assert code_of(refused) == "InvalidVpcEndpointServiceId.NotFound"


def test_a_service_in_use_is_not_deleted(accounts, broker):
    call = accounts.ec2[PRODUCER].delete_vpc_endpoint_service_configurations

    failed = call(ServiceIds=[broker.service])["Unsuccessful"]

    assert failed[0]["Error"]["Code"] == "ExistingVpcEndpointConnections"
    assert call(ServiceIds=["vpce-svc-0"])["Unsuccessful"][0]["ResourceId"] == "vpce-svc-0"


def test_a_service_out_of_use_is_deleted(accounts, broker):
    ec2 = accounts.ec2[PRODUCER]
    made = ec2.create_vpc_endpoint_service_configuration(
        NetworkLoadBalancerArns=[broker.balancer], AcceptanceRequired=False
    )["ServiceConfiguration"]["ServiceId"]

    assert ec2.delete_vpc_endpoint_service_configurations(ServiceIds=[made])["Unsuccessful"] == []

    with pytest.raises(ClientError):
        ec2.describe_vpc_endpoint_service_configurations(ServiceIds=[made])
