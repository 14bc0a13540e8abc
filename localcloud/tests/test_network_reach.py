"""Code in a VPC reaches an AWS service by an endpoint of that VPC, within the endpoint's policy."""

from __future__ import annotations

import json

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from localcloud.errors import MissingHopError
from localcloud.network import Source, load_network, require_service
from tests.vpcs import make_vpc

ACCOUNT = "222222222222"
REGION = "eu-central-1"


class Vpc:
    """A VPC with one subnet and one security group, without any endpoint."""

    def __init__(self, ec2):
        self.ec2 = ec2
        self.id = make_vpc(ec2, "10.5.0.0/16")
        subnet = ec2.create_subnet(VpcId=self.id, CidrBlock="10.5.1.0/24")["Subnet"]
        self.subnet = subnet["SubnetId"]
        self.group = self.make_group("function")
        self.open_group = self.make_group("endpoint")
        ec2.authorize_security_group_ingress(
            GroupId=self.open_group,
            IpPermissions=[
                {
                    "IpProtocol": "tcp",
                    "FromPort": 443,
                    "ToPort": 443,
                    "IpRanges": [{"CidrIp": "10.5.0.0/16"}],
                }
            ],
        )
        self.source = Source(self.id, (self.subnet,), (self.group,))

    def make_group(self, name):
        made = self.ec2.create_security_group(GroupName=name, Description=name, VpcId=self.id)
        return made["GroupId"]

    def make_endpoint(self, service, **settings):
        defaults = {"VpcEndpointType": "Interface", "SubnetIds": [self.subnet]}
        made = self.ec2.create_vpc_endpoint(
            VpcId=self.id, ServiceName=f"com.amazonaws.{REGION}.{service}", **defaults | settings
        )
        return made["VpcEndpoint"]["VpcEndpointId"]

    def main_route_table(self):
        tables = self.ec2.describe_route_tables(
            Filters=[{"Name": "vpc-id", "Values": [self.id]}],
        )["RouteTables"]
        return tables[0]["RouteTableId"]

    def make_gateway(self, service, tables):
        return self.ec2.create_vpc_endpoint(
            VpcId=self.id,
            VpcEndpointType="Gateway",
            ServiceName=f"com.amazonaws.{REGION}.{service}",
            RouteTableIds=tables,
        )


@pytest.fixture
def vpc(client):
    return Vpc(client("ec2", account=ACCOUNT))


@pytest.fixture
def inside(cloud, vpc):
    """Make a client as a function in the VPC would: its environment names the endpoint."""
    environment = load_network(cloud).environment_for(vpc.source)

    def make(service, account=ACCOUNT):
        return boto3.client(
            service,
            endpoint_url=environment["AWS_ENDPOINT_URL"],
            region_name=REGION,
            aws_access_key_id=account,
            aws_secret_access_key="any",
            config=Config(retries={"total_max_attempts": 1}),
        )

    return make


def test_a_call_without_an_endpoint_fails_and_names_it(vpc, inside):
    with pytest.raises(ClientError) as refused:
        inside("sqs").list_queues()

    error = refused.value.response["Error"]
    assert error["Code"] == "VpcEndpointMissing"
    assert error["Message"] == (
        f"{vpc.id} has no endpoint for com.amazonaws.eu-central-1.sqs, so sqs cannot be reached "
        "from it; create one (interface)"
    )
    assert refused.value.response["ResponseMetadata"]["HTTPStatusCode"] == 403


def test_an_interface_endpoint_lets_calls_through(vpc, inside):
    vpc.make_endpoint("sqs", SecurityGroupIds=[vpc.open_group])

    assert "QueueUrls" not in inside("sqs").list_queues(QueueNamePrefix="none-such")
    with pytest.raises(ClientError, match=r"has no endpoint for com\.amazonaws\.eu-central-1\.sts"):
        inside("sts").get_caller_identity()


@pytest.mark.parametrize(
    ("service", "call"),
    [
        ("dynamodb", lambda client: client.list_tables()),
        ("s3", lambda client: client.list_buckets()),
    ],
)
def test_a_gateway_endpoint_lets_calls_through(vpc, inside, service, call):
    with pytest.raises(ClientError, match=rf"no endpoint for .*\.{service}.*\(gateway\)"):
        call(inside(service))

    vpc.make_gateway(service, [vpc.main_route_table()])

    assert call(inside(service))


def test_outside_of_a_vpc_every_service_is_reached(cloud):
    assert load_network(cloud).environment_for(None)["AWS_ENDPOINT_URL"] == cloud.endpoint


def test_a_closed_security_group_of_an_endpoint_is_named(vpc):
    endpoint = vpc.make_endpoint("sts", SecurityGroupIds=[vpc.group])

    with pytest.raises(
        MissingHopError, match=rf"of endpoint {endpoint} \({vpc.group}\) let no TCP 443 in from"
    ):
        require_service(vpc.source, "sts", REGION)


def test_an_endpoint_without_private_dns_is_not_used(vpc):
    endpoint = vpc.make_endpoint("sts", SecurityGroupIds=[vpc.open_group], PrivateDnsEnabled=False)

    with pytest.raises(MissingHopError, match=f"endpoint {endpoint} for .* has private DNS off"):
        require_service(vpc.source, "sts", REGION)


def test_a_gateway_endpoint_must_be_in_the_subnets_route_table(vpc):
    table = vpc.ec2.create_route_table(VpcId=vpc.id)["RouteTable"]["RouteTableId"]
    vpc.ec2.associate_route_table(RouteTableId=table, SubnetId=vpc.subnet)
    vpc.make_gateway("s3", [vpc.main_route_table()])

    with pytest.raises(MissingHopError, match=f"is not in the route table {table} of {vpc.id}"):
        require_service(vpc.source, "s3", REGION)


def test_a_gateway_needs_a_way_out_of_the_security_group(vpc):
    vpc.make_gateway("s3", [vpc.main_route_table()])
    everywhere = [{"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}]
    vpc.ec2.revoke_security_group_egress(GroupId=vpc.group, IpPermissions=everywhere)

    with pytest.raises(MissingHopError, match=f"{vpc.group}. let no TCP 443 out to endpoint"):
        require_service(vpc.source, "s3", REGION)

    endpoints = vpc.ec2.describe_prefix_lists()["PrefixLists"]
    prefix = next(it for it in endpoints if it["PrefixListName"].endswith(".s3"))
    to_s3 = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443}
    to_s3["PrefixListIds"] = [{"PrefixListId": prefix["PrefixListId"]}]
    vpc.ec2.authorize_security_group_egress(GroupId=vpc.group, IpPermissions=[to_s3])
    assert require_service(vpc.source, "s3", REGION)


def test_another_regions_service_is_not_reached(vpc):
    vpc.make_endpoint("sts", SecurityGroupIds=[vpc.open_group])

    assert require_service(vpc.source, "sts", REGION)
    with pytest.raises(MissingHopError, match="sts"):
        require_service(vpc.source, "sts", "us-east-1")


STRANGER = "999999999999"
OWN_ACCOUNT_ONLY = {
    "Effect": "Allow",
    "Principal": "*",
    "Action": "*",
    "Resource": "*",
    "Condition": {
        "StringEquals": {"aws:PrincipalAccount": ACCOUNT, "aws:ResourceAccount": ACCOUNT}
    },
}


def limit(vpc, endpoint, *statements):
    """Set the policy of an endpoint."""
    policy = json.dumps({"Version": "2012-10-17", "Statement": list(statements)})
    vpc.ec2.modify_vpc_endpoint(VpcEndpointId=endpoint, PolicyDocument=policy)


@pytest.fixture
def s3_gateway(vpc):
    """Make a gateway endpoint for S3 that lets nothing out of the account."""
    made = vpc.make_gateway("s3", [vpc.main_route_table()])["VpcEndpoint"]["VpcEndpointId"]
    limit(vpc, made, OWN_ACCOUNT_ONLY)
    return made


@pytest.fixture
def buckets(client):
    """A bucket of the account and one of a stranger that takes everything."""
    place = {"CreateBucketConfiguration": {"LocationConstraint": REGION}}
    for account, bucket in ((ACCOUNT, "own-rows"), (STRANGER, "foreign-rows")):
        client("s3", account=account).create_bucket(Bucket=bucket, **place)
    anybody = {
        "Effect": "Allow",
        "Principal": "*",
        "Action": "s3:*",
        "Resource": "arn:aws:s3:::foreign-rows/*",
    }
    policy = json.dumps({"Version": "2012-10-17", "Statement": [anybody]})
    client("s3", account=STRANGER).put_bucket_policy(Bucket="foreign-rows", Policy=policy)
    yield
    for account, bucket in ((ACCOUNT, "own-rows"), (STRANGER, "foreign-rows")):
        s3 = client("s3", account=account)
        s3.delete_object(Bucket=bucket, Key="row")
        s3.delete_bucket(Bucket=bucket)


def put(s3, bucket):
    return s3.put_object(Bucket=bucket, Key="row", Body=b"21.5")


def test_an_endpoint_without_a_policy_lets_rows_out_to_a_foreign_bucket(vpc, inside, buckets):
    vpc.make_gateway("s3", [vpc.main_route_table()])

    assert put(inside("s3"), "foreign-rows")


def test_the_policy_of_an_endpoint_keeps_rows_in_the_account(inside, s3_gateway, buckets):
    assert put(inside("s3"), "own-rows")

    with pytest.raises(ClientError, match="no VPC endpoint policy allows the s3:PutObject action"):
        put(inside("s3"), "foreign-rows")


def test_the_policy_of_an_endpoint_refuses_foreign_credentials(inside, s3_gateway, buckets):
    with pytest.raises(ClientError, match="no VPC endpoint policy allows the s3:PutObject action"):
        put(inside("s3", account=STRANGER), "foreign-rows")


def test_a_deny_in_the_policy_of_an_endpoint_wins(vpc, inside, s3_gateway, buckets):
    deny = OWN_ACCOUNT_ONLY | {"Effect": "Deny", "Action": "s3:PutObject"}
    limit(vpc, s3_gateway, OWN_ACCOUNT_ONLY, deny)

    with pytest.raises(ClientError, match="with an explicit deny in a VPC endpoint policy"):
        put(inside("s3"), "own-rows")


def test_the_policy_of_an_endpoint_limits_the_roles_that_can_be_assumed(vpc, inside, client):
    endpoint = vpc.make_endpoint("sts", SecurityGroupIds=[vpc.open_group])
    role = f"arn:aws:iam::{STRANGER}:role/deploy"
    named = {"Action": "sts:AssumeRole", "Resource": f"arn:aws:iam::{ACCOUNT}:role/*"}
    limit(vpc, endpoint, {"Effect": "Allow", "Principal": "*"} | named)

    with pytest.raises(ClientError, match="no VPC endpoint policy allows the sts:AssumeRole"):
        inside("sts").assume_role(RoleArn=role, RoleSessionName="out")
    with pytest.raises(ClientError, match="the sts:GetCallerIdentity action"):
        inside("sts").get_caller_identity()


def test_a_bucket_may_demand_an_endpoint(vpc, inside, client, s3_gateway, buckets):
    elsewhere = {
        "Effect": "Deny",
        "Principal": "*",
        "Action": "s3:PutObject",
        "Resource": "arn:aws:s3:::own-rows/*",
        "Condition": {
            "StringNotEquals": {"aws:SourceVpce": s3_gateway},
            "StringNotEqualsIfExists": {"aws:SourceVpc": vpc.id},
        },
    }
    outside = client("s3", account=ACCOUNT)
    outside.put_bucket_policy(
        Bucket="own-rows", Policy=json.dumps({"Version": "2012-10-17", "Statement": [elsewhere]})
    )

    assert put(inside("s3"), "own-rows")
    with pytest.raises(ClientError, match="explicit deny in a resource-based policy"):
        put(outside, "own-rows")
