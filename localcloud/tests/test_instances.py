"""Instances are as they were started."""

from __future__ import annotations

import base64

import pytest


@pytest.mark.parametrize(("given", "shown"), [(None, {}), ("echo", {"Value": "echo"})])
def test_user_data_that_was_not_given_has_no_value(client, given, shown):
    ec2 = client("ec2")
    wanted = {"UserData": given} if given else {}
    made = ec2.run_instances(ImageId="ami-12345678", MinCount=1, MaxCount=1, **wanted)
    (instance,) = made["Instances"]

    found = ec2.describe_instance_attribute(
        InstanceId=instance["InstanceId"], Attribute="userData"
    )["UserData"]

    assert {name: base64.b64decode(value).decode() for name, value in found.items()} == shown


@pytest.mark.parametrize("own", ["volume", None])
def test_the_tags_of_a_launch_template_are_not_those_of_what_it_starts(client, own):
    ec2, name = client("ec2"), f"tagged-{own}"
    tags = [{"Key": "part", "Value": "a"}]
    started = [{"ResourceType": own, "Tags": tags}] if own else []
    made = ec2.create_launch_template(
        LaunchTemplateName=name,
        LaunchTemplateData={"InstanceType": "t4g.small", "TagSpecifications": started},
        TagSpecifications=[{"ResourceType": "launch-template", "Tags": tags}],
    )["LaunchTemplate"]

    (version,) = ec2.describe_launch_template_versions(LaunchTemplateId=made["LaunchTemplateId"])[
        "LaunchTemplateVersions"
    ]

    assert version["LaunchTemplateData"].get("TagSpecifications", []) == started
    (shown,) = ec2.describe_launch_templates(LaunchTemplateNames=[name])["LaunchTemplates"]
    assert shown["Tags"] == tags


def test_an_instance_takes_its_interface_with_it(client):
    ec2 = client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.9.0.0/24")["Subnet"]["SubnetId"]
    made = ec2.run_instances(ImageId="ami-12345678", MinCount=1, MaxCount=1, SubnetId=subnet)
    (instance,) = made["Instances"]
    inside = {"Filters": [{"Name": "vpc-id", "Values": [vpc]}]}
    assert len(ec2.describe_network_interfaces(**inside)["NetworkInterfaces"]) == 1

    ec2.terminate_instances(InstanceIds=[instance["InstanceId"]])

    assert ec2.describe_network_interfaces(**inside)["NetworkInterfaces"] == []
    shown = ec2.describe_instances(InstanceIds=[instance["InstanceId"]])["Reservations"]
    assert shown[0]["Instances"][0]["State"]["Name"] == "terminated"
