"""Subnets are alike, whether their zone is named or told by its id."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError


@pytest.fixture(scope="module")
def ec2(client):
    return client("ec2")


@pytest.fixture
def vpc(ec2):
    return ec2.create_vpc(CidrBlock="10.8.0.0/16")["Vpc"]["VpcId"]


@pytest.mark.parametrize(
    "zone", [{"AvailabilityZoneId": "euc1-az1"}, {"AvailabilityZone": "eu-central-1a"}]
)
def test_the_first_subnet_of_a_vpc_is_not_a_default_subnet(ec2, vpc, zone):
    tags = [{"ResourceType": "subnet", "Tags": [{"Key": "Name", "Value": "a & b"}]}]

    made = ec2.create_subnet(VpcId=vpc, CidrBlock="10.8.0.0/24", TagSpecifications=tags, **zone)

    (found,) = ec2.describe_subnets(SubnetIds=[made["Subnet"]["SubnetId"]])["Subnets"]
    assert (found["AvailabilityZoneId"], found["AvailabilityZone"]) == ("euc1-az1", "eu-central-1a")
    assert (found["DefaultForAz"], found["MapPublicIpOnLaunch"]) == (False, False)
    assert found["Tags"] == [{"Key": "Name", "Value": "a & b"}]


def test_a_zone_that_does_not_exist_is_refused(ec2, vpc):
    with pytest.raises(ClientError) as refused:
        ec2.create_subnet(VpcId=vpc, CidrBlock="10.8.0.0/24", AvailabilityZoneId="euc1-az9")

    assert refused.value.response["Error"]["Code"] == "InvalidParameterValue"
