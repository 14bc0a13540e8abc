"""VPCs as Terraform makes them: names of private zones and endpoints resolve there."""

from __future__ import annotations


def make_vpc(ec2, cidr_block):
    """Make a VPC with DNS hostnames, which a new one lacks, and return its id."""
    vpc = ec2.create_vpc(CidrBlock=cidr_block)["Vpc"]["VpcId"]
    ec2.modify_vpc_attribute(VpcId=vpc, EnableDnsHostnames={"Value": True})
    return vpc
