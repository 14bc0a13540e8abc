"""Service Quotas tells what an account may have, and the services hold to it."""

from __future__ import annotations

import itertools

import pytest

from localcloud.quotas import CONCURRENT_EXECUTIONS, INTERFACE_ENDPOINTS, VPCS
from localcloud.testing.policies import allow, keys_of, make_role, trust
from tests.refusals import refusal
from tests.vpcs import make_vpc

_NUMBERS = itertools.count(1)


@pytest.fixture
def account():
    """An account that nobody has used."""
    return f"9400{next(_NUMBERS):08}"


@pytest.fixture
def quotas(client, account):
    return client("service-quotas", account=account)


@pytest.fixture
def ec2(client, account):
    return client("ec2", account=account)


def _name(quota):
    return {"ServiceCode": quota.service, "QuotaCode": quota.code}


def test_a_new_account_has_defaults_and_what_aws_applied(quotas, account):
    default = quotas.get_aws_default_service_quota(**_name(CONCURRENT_EXECUTIONS))["Quota"]
    applied = quotas.get_service_quota(**_name(CONCURRENT_EXECUTIONS))["Quota"]

    assert (default["Value"], applied["Value"]) == (1_000, 10)
    assert applied["QuotaArn"] == f"arn:aws:servicequotas:eu-central-1:{account}:lambda/L-B99A9384"
    assert applied["QuotaName"] == "Concurrent executions"
    assert quotas.get_aws_default_service_quota(**_name(VPCS))["Quota"]["Value"] == 5
    code, _ = refusal(quotas.get_service_quota, **_name(VPCS))
    assert code == "NoSuchResourceException"


def test_an_increase_is_applied_and_listed(quotas, account, set_quota):
    assert quotas.list_service_quotas(ServiceCode="vpc")["Quotas"] == []

    set_quota(account, VPCS, 7)

    (listed,) = quotas.list_service_quotas(ServiceCode="vpc")["Quotas"]
    assert listed == quotas.get_service_quota(**_name(VPCS))["Quota"]
    assert (listed["QuotaCode"], listed["Value"]) == ("L-F678F1CE", 7)
    pages = quotas.get_paginator("list_aws_default_service_quotas").paginate(
        ServiceCode="vpc", PaginationConfig={"PageSize": 1}
    )
    found = [each["QuotaCode"] for page in pages for each in page["Quotas"]]
    assert found == ["L-F678F1CE", "L-29B6F2EB"]


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"ServiceCode": "kafka", "QuotaCode": "L-1"}, "NoSuchResourceException"),
        ({"ServiceCode": "vpc", "QuotaCode": "L-B99A9384"}, "NoSuchResourceException"),
        ({"ServiceCode": "1", "QuotaCode": "L-1"}, "IllegalArgumentException"),
    ],
)
def test_an_unknown_quota_is_refused(quotas, asked, code):
    assert refusal(quotas.get_service_quota, **asked)[0] == code


def test_who_reads_a_quota_needs_the_right(client, account):
    iam = client("iam", account=account)
    role = make_role(iam, trust(account), allow("servicequotas:GetServiceQuota"))
    taken = client("sts", account=account).assume_role(RoleArn=role, RoleSessionName="test")
    acting = client("service-quotas", **keys_of(taken["Credentials"]))

    acting.get_service_quota(**_name(CONCURRENT_EXECUTIONS))
    code, said = refusal(acting.get_aws_default_service_quota, **_name(CONCURRENT_EXECUTIONS))

    assert code == "AccessDeniedException"
    assert "is not authorized to perform: servicequotas:GetAWSDefaultServiceQuota" in said


def test_a_region_has_as_many_vpcs_as_the_quota_allows(ec2, account, set_quota):
    there = len(ec2.describe_vpcs()["Vpcs"])  # the default one
    set_quota(account, VPCS, there + 1)
    ec2.create_vpc(CidrBlock="10.1.0.0/16")

    assert refusal(ec2.create_vpc, CidrBlock="10.2.0.0/16") == (
        "VpcLimitExceeded",
        "The maximum number of VPCs has been reached.",
    )

    set_quota(account, VPCS, there + 2)
    ec2.create_vpc(CidrBlock="10.2.0.0/16")


def test_a_vpc_has_as_many_interface_endpoints_as_the_quota_allows(ec2, account, set_quota):
    vpc, other = make_vpc(ec2, "10.1.0.0/16"), make_vpc(ec2, "10.2.0.0/16")

    def create(service, place):
        name = f"com.amazonaws.eu-central-1.{service}"
        asked = {"VpcEndpointType": "Interface", "ServiceName": name, "VpcId": place}
        return {**asked, "PrivateDnsEnabled": False}

    set_quota(account, INTERFACE_ENDPOINTS, 1)
    ec2.create_vpc_endpoint(**create("sts", vpc))

    assert refusal(ec2.create_vpc_endpoint, **create("glue", vpc)) == (
        "VpcEndpointLimitExceeded",
        "The maximum number of VPC endpoints has been reached.",
    )
    ec2.create_vpc_endpoint(**create("sts", other))


def test_a_quota_that_nobody_holds_cannot_be_set(set_quota, account):
    class Unknown:
        code = "L-1"

    with pytest.raises(Exception, match="HTTP Error 4"):
        set_quota(account, Unknown, 1)
