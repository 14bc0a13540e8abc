"""The module of the cluster, applied: policies of which no plan knows the ARN."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.fixtures.terraform import Terraform

pytestmark = pytest.mark.terraform

_MODULE = Path(__file__).parents[3] / "infra/modules/broker-cluster"
_OWNER, _READERS = "111111111111", {"analytics": "222222222222", "billing": "333333333333"}


@pytest.mark.usefixtures("pretended")
def test_who_connects_by_msks_own_connections_is_in_the_clusters_policy(
    cloud, client, kafka, place, tmp_path
):
    vpc_id, subnet_ids = place()
    module = Terraform(_MODULE, tmp_path, cloud.endpoint, _OWNER)
    given = {
        "account_id": _OWNER,
        "cluster": {"broker_count": 2},
        "exposure": "multi_vpc",
        "prefix": "applied",
        "region": "eu-central-1",
        "retention": {"key_deletion_days": 7, "secret_recovery_days": 0},
        "subnet_ids": dict(zip(["euc1-az1", "euc1-az2"], subnet_ids, strict=False)),
        "users": {name: {"account_id": account} for name, account in _READERS.items()},
        "vpc_id": vpc_id,
    }
    module.apply(**given)
    (cluster,) = kafka.list_clusters_v2(ClusterNameFilter="applied")["ClusterInfoList"]
    policy = kafka.get_cluster_policy(ClusterArn=cluster["ClusterArn"])["Policy"]
    assert json.loads(policy)["Statement"] == [
        {
            "Sid": "ConsumersConnect",
            "Effect": "Allow",
            "Principal": {"AWS": [f"arn:aws:iam::{it}:root" for it in sorted(_READERS.values())]},
            "Action": [
                "kafka:CreateVpcConnection",
                "kafka:DescribeCluster",
                "kafka:DescribeClusterV2",
                "kafka:GetBootstrapBrokers",
            ],
            "Resource": cluster["ClusterArn"],
        }
    ]
    secrets = client("secretsmanager")
    for name in _READERS:
        shown = secrets.get_resource_policy(SecretId=f"AmazonMSK_applied_{name}")
        (statement,) = json.loads(shown["ResourcePolicy"])["Statement"]
        assert statement["Resource"] == shown["ARN"]
        assert statement["Principal"] == {"Service": "kafka.amazonaws.com"}
    module.destroy(**given)
