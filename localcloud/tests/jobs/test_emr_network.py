"""The network of a private cluster of EMR: ports or an endpoint by release, and EMR's buckets."""

from __future__ import annotations

import json

import pytest

from localcloud.testing.policies import allow, make_role, trust
from tests.jobs.clusters import ENDED, wait_cluster


@pytest.fixture
def network(client):
    """A subnet, and security groups for the primary node and for the access of the service."""
    ec2 = client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.77.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.77.0.0/24")["Subnet"]["SubnetId"]
    groups = [
        ec2.create_security_group(GroupName=name, Description=name, VpcId=vpc)["GroupId"]
        for name in ("nodes", "access")
    ]
    return subnet, *groups


@pytest.fixture
def end(client, emr, run, network):
    """Start a cluster in the subnet with the nodes' group, and wait until it runs or ends."""
    subnet, nodes, _ = network
    managed = ("EmrManagedMasterSecurityGroup", "EmrManagedSlaveSecurityGroup")
    place = {"Ec2SubnetId": subnet} | dict.fromkeys(managed, nodes)

    def start(release="emr-spark-8.1.0", more=None, **given):
        asked = {"ReleaseLabel": release, "Instances": place | given} | (more or {})
        found = wait_cluster(emr, run(**asked), "WAITING", *ENDED)
        return found["State"], found["StateChangeReason"].get("Message", "")

    return start


def _group(group):
    return {"UserIdGroupPairs": [{"GroupId": group}]}


def _range(cidr):
    return {"IpRanges": [{"CidrIp": cidr}]}


def _let(way, group, port, other):
    """Add a rule to a group, by the call for ingress or egress."""
    rule = {"IpProtocol": "tcp", "FromPort": port, "ToPort": port} | other
    way(GroupId=group, IpPermissions=[rule])


def _open_s3(client, subnet, policy=None):
    """Make the gateway to S3 of the subnet's VPC."""
    ec2 = client("ec2")
    vpc = ec2.describe_subnets(SubnetIds=[subnet])["Subnets"][0]["VpcId"]
    filters = [{"Name": "vpc-id", "Values": [vpc]}]
    tables = ec2.describe_route_tables(Filters=filters)["RouteTables"]
    more = {"PolicyDocument": policy} if policy else {}
    return ec2.create_vpc_endpoint(
        VpcId=vpc,
        ServiceName="com.amazonaws.eu-central-1.s3",
        RouteTableIds=[each["RouteTableId"] for each in tables],
        **more,
    )["VpcEndpoint"]["VpcEndpointId"]


def test_a_private_cluster_of_an_older_release_needs_a_port(client, end, network):
    subnet, nodes, access = network
    release = "emr-7.14.0"

    assert "must also specify a ServiceAccessSecurityGroup" in end(release)[1]
    state, said = end(release, ServiceAccessSecurityGroup=access)
    assert state == "TERMINATED_WITH_ERRORS"
    assert said.endswith("missing ingress rule from EmrManagedMasterSecurityGroup on port 9443")
    _let(client("ec2").authorize_security_group_ingress, access, 9443, _group(nodes))
    assert (
        "has no endpoint for com.amazonaws.eu-central-1.s3"
        in (end(release, ServiceAccessSecurityGroup=access)[1])
    )
    _open_s3(client, subnet)
    assert end(release, ServiceAccessSecurityGroup=access)[0] == "WAITING"
    assert "The subnet 'subnet-1' does not exist" in end(release, Ec2SubnetId="subnet-1")[1]
    gone = end(release, ServiceAccessSecurityGroup="sg-1")[1]
    assert gone == "The security group 'sg-1' does not exist"


def test_a_private_cluster_of_spark_8_needs_an_endpoint(client, end, network):
    subnet, nodes, access = network
    ec2 = client("ec2")
    _open_s3(client, subnet)
    everything = {"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}
    ec2.revoke_security_group_egress(GroupId=nodes, IpPermissions=[everything])

    said = end(ServiceAccessSecurityGroup=access)[1]
    assert said.endswith("missing ingress rule from EmrManagedMasterSecurityGroup on port 443")
    _let(ec2.authorize_security_group_ingress, access, 443, _range("10.77.0.0/16"))
    said = end(ServiceAccessSecurityGroup=access)[1]
    assert "is missing egress rule to ServiceAccessSecurityGroup on port 443" in said
    _let(ec2.authorize_security_group_egress, nodes, 443, _group(access))
    said = end(ServiceAccessSecurityGroup=access)[1]
    assert "let no TCP 443 out to endpoint" in said  # of S3
    _let(ec2.authorize_security_group_egress, nodes, 443, _range("0.0.0.0/0"))
    # The role may make the endpoint.
    assert end(ServiceAccessSecurityGroup=access)[0] == "WAITING"

    deny = {"Effect": "Deny", "Action": "ec2:CreateVpcEndpoint", "Resource": "*"}
    trusted = trust({"Service": "elasticmapreduce.amazonaws.com"})
    role = make_role(client("iam"), trusted, allow("ec2:*"), allow("iam:PassRole"), deny)
    more = {"ServiceRole": role}
    said = end(more=more, ServiceAccessSecurityGroup=access)[1]
    assert "has no endpoint for aws.api.eu-central-1.emr-service-cell01" in said
    assert said.endswith(f"{role} lacks ec2:CreateVpcEndpoint to make one")
    vpc = ec2.describe_subnets(SubnetIds=[subnet])["Subnets"][0]["VpcId"]
    ec2.modify_vpc_attribute(VpcId=vpc, EnableDnsHostnames={"Value": True})
    ec2.create_vpc_endpoint(
        VpcId=vpc,
        VpcEndpointType="Interface",
        ServiceName="aws.api.eu-central-1.emr-service-cell01",
        SubnetIds=[subnet],
        SecurityGroupIds=[access],
    )
    assert end(more=more, ServiceAccessSecurityGroup=access)[0] == "WAITING"


_OLD, _NEW = "emr-7.14.0", "emr-spark-8.1.0"


@pytest.mark.parametrize(
    ("release", "logs", "missing"),
    [
        (_OLD, "", ""),
        (_NEW, "", "aws157-instance-data-0-prod-eu-central-1"),
        (_OLD, "s3://logs/", "aws157-logs-prod-eu-central-1"),
    ],
    ids=["older", "spark-8", "logs"],
)
def test_nodes_need_the_buckets_of_emr(end, opened, release, logs, missing):
    more = {"LogUri": logs} if logs else None
    state, said = end(release, more, ServiceAccessSecurityGroup=opened)

    assert (state == "WAITING") == (missing == "")
    assert missing == "" or said.endswith(f"on the bucket {missing}, which {release} needs")


@pytest.fixture
def opened(client, network):
    """The group of the service's access with its rules, and S3 with the buckets of older ones."""
    subnet, nodes, access = network
    for port in (443, 9443):
        _let(client("ec2").authorize_security_group_ingress, access, port, _group(nodes))
    buckets = ["al2023-repos-eu-central-1-de612dc2", "repo.eu-central-1.emr.amazonaws.com"]
    statement = allow("s3:*", [f"arn:aws:s3:::{each}/*" for each in buckets], Principal="*")
    _open_s3(client, subnet, json.dumps({"Version": "2012-10-17", "Statement": [statement]}))
    return access
