"""Clusters as tests ask for them."""

from __future__ import annotations

import secrets

from localcloud.testing import wait_until

SCRAM_AND_IAM = {"Sasl": {"Scram": {"Enabled": True}, "Iam": {"Enabled": True}}}


def describe_request(subnets, zones=2):
    """Write the parameters of CreateCluster that are always needed, under a new name."""
    return {
        "ClusterName": f"c-{secrets.token_hex(4)}",
        "KafkaVersion": "3.9.x.kraft",
        "NumberOfBrokerNodes": zones,
        "ClientAuthentication": SCRAM_AND_IAM,
        "BrokerNodeGroupInfo": {
            "InstanceType": "kafka.m7g.large",
            "ClientSubnets": subnets[:zones],
        },
    }


def open_to_vpcs(login):
    """Write the connectivity that lets VPC connections in, with SCRAM or IAM."""
    return {"VpcConnectivity": {"ClientAuthentication": {"Sasl": {login: {"Enabled": True}}}}}


def list_brokers(kafka, arn):
    """Return what ListNodes tells of each broker of a cluster."""
    nodes = kafka.list_nodes(ClusterArn=arn)["NodeInfoList"]
    return [node["BrokerNodeInfo"] for node in nodes if "BrokerNodeInfo" in node]


def wait_for(kafka, arn, state="ACTIVE", seconds=150):
    """Wait until a cluster is in a state; returns what DescribeCluster shows."""

    def reached():
        shown = kafka.describe_cluster(ClusterArn=arn)["ClusterInfo"]
        return shown if shown["State"] == state else None

    return wait_until(f"{state} of {arn}", reached, seconds)
