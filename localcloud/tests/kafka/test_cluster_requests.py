"""Clusters that cannot be: what the API refuses, before any broker is started."""

from __future__ import annotations

import pytest

from tests.kafka.requests import describe_request, open_to_vpcs
from tests.refusals import refusal

_NO_KEY = "arn:aws:kms:eu-central-1:111111111111:key/00000000-0000-4000-8000-000000000000"
_NO_CA = _NO_KEY.replace("kms", "acm-pca").replace("key", "certificate-authority")


def test_a_cluster_is_of_one_type(kafka):
    assert refusal(kafka.create_cluster_v2, ClusterName="s")[1] == (
        "Specify either Provisioned or Serverless"
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ClusterName": "no_underscores"}, "not up to 64 letters, digits and hyphens"),
        ({"KafkaVersion": "0.9"}, r"Unsupported KafkaVersion [0.9]. Valid values: [3.6.0, "),
        ({"NumberOfBrokerNodes": 3}, "must be a multiple of Availability Zones in the Client"),
        ({"NumberOfBrokerNodes": 62}, "A cluster has 1 to 60 brokers, not 62"),
        (
            {"ClientAuthentication": {"Tls": {"Enabled": True}}},
            "TLS client authentication needs the ARN of a private CA",
        ),
        (
            {"ClientAuthentication": {"Tls": {"CertificateAuthorityArnList": [_NO_CA]}}},
            f"The private CA {_NO_CA} doesn't exist; specify one that is ACTIVE",
        ),
        (
            {"ClientAuthentication": {"Tls": {"CertificateAuthorityArnList": ["clients"]}}},
            "The private CA clients doesn't exist",
        ),
        (
            {"EncryptionInfo": {"EncryptionInTransit": {"ClientBroker": "PLAINTEXT"}}},
            "A login needs encryption in transit",
        ),
        (
            {"EncryptionInfo": {"EncryptionAtRest": {"DataVolumeKMSKeyId": _NO_KEY}}},
            f"Key '{_NO_KEY}' does not exist",
        ),
        (
            {"LoggingInfo": {"BrokerLogs": {"CloudWatchLogs": {"Enabled": True, "LogGroup": "g"}}}},
            "The log group g doesn't exist",
        ),
        (
            {"ClientAuthentication": {"Unauthenticated": {"Enabled": False}}},
            "The cluster would have no way to connect to it",
        ),
    ],
)
def test_an_invalid_cluster_request_is_rejected(kafka, subnets, pretended, changes, message):
    code, found = refusal(kafka.create_cluster, **describe_request(subnets) | changes)
    assert code == "BadRequestException"
    assert message in found


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"InstanceType": "m5.large"}, "Unsupported InstanceType specified"),
        ({"InstanceType": "kafka.t3.small"}, "Unsupported InstanceType specified"),
        ({"ClientSubnets": ["subnet-1"]}, "Specify either two or three client subnets"),
        ({"ClientSubnets": ["subnet-1", "subnet-2"]}, "The subnet subnet-1 does not exist"),
        ({"SecurityGroups": ["sg-1"]}, "The security group sg-1 does not exist in vpc-"),
        (
            {"StorageInfo": {"EbsStorageInfo": {"VolumeSize": 20_000}}},
            "A volume has 1 to 16384 GiB, not 20000",
        ),
        (
            {"ConnectivityInfo": {"PublicAccess": {"Type": "SERVICE_PROVIDED_EIPS"}}},
            "You can't enable public access while you create a cluster",
        ),
        (
            {"ConnectivityInfo": open_to_vpcs("Iam")},
            "When creating a cluster, all vpcConnectivity auth schemes must be disabled",
        ),
    ],
)
def test_places_that_do_not_fit_are_refused(kafka, subnets, pretended, changes, message):
    given = describe_request(subnets)
    given["BrokerNodeGroupInfo"] |= changes
    code, found = refusal(kafka.create_cluster, **given)
    assert code == "BadRequestException"
    assert message in found


def test_subnets_must_be_of_one_vpc_and_of_different_zones(kafka, subnets, place, pretended):
    _, others = place()
    given = describe_request([subnets[0], others[1]])
    assert "are not all in one VPC" in refusal(kafka.create_cluster, **given)[1]
    given = describe_request([subnets[0], subnets[0]])
    assert "an Availability Zone of its own" in refusal(kafka.create_cluster, **given)[1]


def test_a_full_subnet_takes_no_broker(kafka, client, pretended):
    ec2 = client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.2.0.0/24")["Vpc"]["VpcId"]
    subnets = [
        ec2.create_subnet(VpcId=vpc, CidrBlock=block, AvailabilityZone=f"eu-central-1{zone}")
        for zone, block in (("a", "10.2.0.0/28"), ("b", "10.2.0.16/28"))
    ]
    names = [subnet["Subnet"]["SubnetId"] for subnet in subnets]
    given = describe_request(names) | {"NumberOfBrokerNodes": 24}
    _, message = refusal(kafka.create_cluster, **given)
    assert message == f"The subnet {names[0]} has no free address"
    left = ec2.describe_network_interfaces(Filters=[{"Name": "vpc-id", "Values": [vpc]}])
    assert left["NetworkInterfaces"] == []


def test_a_name_is_taken_once(kafka, make_cluster, subnets):
    name = make_cluster()["ClusterName"]
    given = describe_request(subnets) | {"ClusterName": name}
    assert refusal(kafka.create_cluster, **given) == (
        "ConflictException",
        f"A cluster named {name} already exists",
    )
