"""A subnet or a security group that something uses is not deleted, as Terraform relies on."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError

from localcloud.testing import deploy

_SERVICE = "com.amazonaws.eu-central-1.sts"


@pytest.fixture(scope="module")
def ec2(client):
    return client("ec2")


@pytest.fixture
def subnets(ec2):
    """Two subnets of a VPC of their own."""
    vpc = ec2.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
    made = [
        ec2.create_subnet(VpcId=vpc, CidrBlock=f"10.9.{number}.0/24")["Subnet"]["SubnetId"]
        for number in range(2)
    ]
    yield vpc, made
    for subnet in made:
        ec2.delete_subnet(SubnetId=subnet)
    ec2.delete_vpc(VpcId=vpc)


@pytest.fixture
def group(ec2, subnets):
    made = ec2.create_security_group(GroupName="used", Description="d", VpcId=subnets[0])["GroupId"]
    yield made
    ec2.delete_security_group(GroupId=made)


def make_endpoint(ec2, client, vpc, subnet, group):
    """Make an endpoint in the subnet; how it leaves the subnet and the group."""
    made = ec2.create_vpc_endpoint(
        VpcEndpointType="Interface",
        VpcId=vpc,
        ServiceName=_SERVICE,
        SubnetIds=[subnet],
        SecurityGroupIds=[group],
        PrivateDnsEnabled=False,
    )["VpcEndpoint"]["VpcEndpointId"]
    return lambda: ec2.delete_vpc_endpoints(VpcEndpointIds=[made])


def make_function(ec2, client, vpc, subnet, group):
    name = deploy(client, VpcConfig={"SubnetIds": [subnet], "SecurityGroupIds": [group]})
    return lambda: client("lambda").delete_function(FunctionName=name)


def make_instance(ec2, client, vpc, subnet, group):
    (made,) = ec2.run_instances(
        ImageId="ami-12345678", MinCount=1, MaxCount=1, SubnetId=subnet, SecurityGroupIds=[group]
    )["Instances"]
    return lambda: ec2.terminate_instances(InstanceIds=[made["InstanceId"]])


def make_interface(ec2, client, vpc, subnet, group):
    made = ec2.create_network_interface(SubnetId=subnet, Groups=[group])["NetworkInterface"]
    return lambda: ec2.delete_network_interface(NetworkInterfaceId=made["NetworkInterfaceId"])


def make_balancer(ec2, client, vpc, subnet, group):
    elb = client("elbv2")
    (made,) = elb.create_load_balancer(
        Name="used", Type="network", Scheme="internal", Subnets=[subnet], SecurityGroups=[group]
    )["LoadBalancers"]
    return lambda: elb.delete_load_balancer(LoadBalancerArn=made["LoadBalancerArn"])


@pytest.mark.parametrize(
    "make", [make_endpoint, make_function, make_instance, make_interface, make_balancer]
)
def test_what_has_interfaces_keeps_its_subnet_and_its_group(ec2, client, subnets, group, make):
    vpc, (subnet, _) = subnets
    leave = make(ec2, client, vpc, subnet, group)

    with pytest.raises(ClientError, match=r"DependencyViolation.*has dependencies and cannot be"):
        ec2.delete_subnet(SubnetId=subnet)
    with pytest.raises(ClientError, match=rf"DependencyViolation.*resource {group} has a depend"):
        ec2.delete_security_group(GroupId=group)

    leave()  # the fixtures delete both


def test_an_endpoint_that_left_a_subnet_does_not_keep_it(ec2, client, subnets, group):
    vpc, (first, second) = subnets
    leave = make_endpoint(ec2, client, vpc, first, group)
    (made,) = ec2.describe_vpc_endpoints(Filters=[{"Name": "vpc-id", "Values": [vpc]}])[
        "VpcEndpoints"
    ]
    name = {"VpcEndpointId": made["VpcEndpointId"]}
    ec2.modify_vpc_endpoint(**name, AddSubnetIds=[second])
    ec2.modify_vpc_endpoint(**name, RemoveSubnetIds=[first])

    ec2.delete_subnet(SubnetId=first)
    with pytest.raises(ClientError, match="DependencyViolation"):
        ec2.delete_subnet(SubnetId=second)

    leave()
    subnets[1].remove(first)


def test_a_rule_keeps_the_group_that_it_names(ec2, subnets, group):
    other = ec2.create_security_group(GroupName="other", Description="d", VpcId=subnets[0])
    rule = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443}
    named = [rule | {"UserIdGroupPairs": [{"GroupId": group}]}]
    ec2.authorize_security_group_ingress(GroupId=other["GroupId"], IpPermissions=named)

    with pytest.raises(ClientError, match="DependencyViolation"):
        ec2.delete_security_group(GroupId=group)

    ec2.delete_security_group(GroupId=other["GroupId"])
