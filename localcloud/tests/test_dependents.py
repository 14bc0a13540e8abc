"""A subnet or a security group that something uses is not deleted, as Terraform relies on."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from botocore.exceptions import ClientError

from localcloud.jobs import RunState
from localcloud.services.emr.model import Clusters
from localcloud.services.emr_serverless.model import Application, Applications
from localcloud.services.kafka.model import Kafka, VpcConnection
from localcloud.services.kafkaconnect.model import Connector, KafkaConnect
from localcloud.testing import deploy
from tests.account_ids import PRODUCER
from tests.mappings.unconnected import NOWHERE, settle, wait_gone

REGION = "eu-central-1"
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


def make_mapping(ec2, client, vpc, subnet, group):
    access = {"VPC_SUBNET": f"subnet:{subnet}", "VPC_SECURITY_GROUP": f"security_group:{group}"}
    made = client("lambda").create_event_source_mapping(
        FunctionName=deploy(client),
        Topics=["orders"],
        StartingPosition="LATEST",
        SelfManagedEventSource={"Endpoints": {"KAFKA_BOOTSTRAP_SERVERS": NOWHERE}},
        SourceAccessConfigurations=[{"Type": kind, "URI": uri} for kind, uri in access.items()],
    )["UUID"]

    def leave():
        settle(client, made)
        client("lambda").delete_event_source_mapping(UUID=made)
        wait_gone(client, made)

    return leave


@pytest.mark.parametrize(
    "make",
    [
        *(make_endpoint, make_function, make_instance, make_interface, make_balancer),
        make_mapping,
    ],
)
def test_what_has_interfaces_keeps_its_subnet_and_its_group(ec2, client, subnets, group, make):
    vpc, (subnet, _) = subnets
    leave = make(ec2, client, vpc, subnet, group)

    with pytest.raises(ClientError, match=r"DependencyViolation.*has dependencies and cannot be"):
        ec2.delete_subnet(SubnetId=subnet)
    with pytest.raises(ClientError, match=rf"DependencyViolation.*resource {group} has a depend"):
        ec2.delete_security_group(GroupId=group)

    leave()  # the fixtures delete both


def hold_connection(cloud, subnet, group):
    """Hold the subnet and the group by a VPC connection of MSK; what holds it, and where."""
    named = {"arn": "c", "cluster_arn": "m", "authentication": "SASL_IAM", "vpc_id": "v"}
    held = VpcConnection(**named, subnets=[subnet], security_groups=[group], tags={}, created_at=0)
    return cloud.state(Kafka, PRODUCER, REGION).vpc_connections, held


def hold_serverless_cluster(cloud, subnet, group):
    config = {"SubnetIds": [subnet], "SecurityGroupIds": [group]}
    return cloud.state(Kafka, PRODUCER, REGION).clusters, SimpleNamespace(vpc_configs=[config])


def hold_connector(cloud, subnet, group):
    vpc = {"subnets": [subnet], "securityGroups": [group]}
    held = Connector("c", "c", {"kafkaCluster": {"apacheKafkaCluster": {"vpc": vpc}}}, {})
    return cloud.state(KafkaConnect, PRODUCER, REGION).connectors, held


def hold_cluster(cloud, subnet, group):
    instances = {"ServiceAccessSecurityGroup": group}
    held = SimpleNamespace(place=SimpleNamespace(subnets=(subnet,)), asked={"Instances": instances})
    held.state = "TERMINATING"
    return cloud.state(Clusters, PRODUCER, REGION).by_id, held


def hold_application(cloud, subnet, group):
    network = {"subnetIds": [subnet], "securityGroupIds": [group]}
    made = Application("a", "a", {"networkConfiguration": network}, {}, {})
    made.runs["r"] = SimpleNamespace(run=SimpleNamespace(state=RunState.RUNNING))
    return cloud.state(Applications, PRODUCER, REGION).by_id, made


@pytest.mark.parametrize(
    "hold",
    [
        *(hold_connection, hold_serverless_cluster, hold_connector),
        *(hold_cluster, hold_application),
    ],
)
def test_a_service_keeps_its_subnet_and_its_group(cloud, ec2, subnets, group, hold):
    subnet = subnets[1][0]
    place, held = hold(cloud, subnet, group)
    place["held"] = held

    try:
        with pytest.raises(ClientError, match="DependencyViolation"):
            ec2.delete_subnet(SubnetId=subnet)
        with pytest.raises(ClientError, match="DependencyViolation"):
            ec2.delete_security_group(GroupId=group)
    finally:
        del place["held"]


@pytest.mark.parametrize("state", ["TERMINATED", "TERMINATED_WITH_ERRORS"])
def test_a_terminated_cluster_keeps_nothing(cloud, ec2, subnets, group, state):
    place, held = hold_cluster(cloud, subnets[1][0], group)
    held.state = state
    place["held"] = held

    ec2.delete_subnet(SubnetId=subnets[1].pop(0))

    del place["held"]


def test_an_application_whose_runs_have_ended_keeps_nothing(cloud, ec2, subnets, group):
    place, held = hold_application(cloud, subnets[1][0], group)
    held.runs["r"].run.state = RunState.SUCCESS
    place["held"] = held

    ec2.delete_subnet(SubnetId=subnets[1].pop(0))

    del place["held"]


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
