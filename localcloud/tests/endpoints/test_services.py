"""Endpoint services of the producer: who is connected, who may be, and when they go."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError

from localcloud.tests.account_ids import CONSUMER, PRODUCER, STRANGER
from localcloud.tests.refusals import code_of

ZONE = "services.abc123.c1.kafka.eu-central-1.amazonaws.com"


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
