"""A network loses a zone, and a client its host: nothing that is still used is deleted first."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fixtures.terraform import Terraform
from tools.local_root import copy_infra

# EC2 refuses to delete what is used, and Terraform tries again for 15 minutes and more.
pytestmark = [pytest.mark.terraform, pytest.mark.timeout(300)]

_ACCOUNT = "930000000008"
_MODULES = Path(__file__).parents[2] / "infra/modules"
_ROOT = f"""
provider "aws" {{
  region = "eu-central-1"
}}

variable "zones" {{
  type = list(string)
}}

variable "host" {{
  type = bool
}}

module "host" {{
  source = "./modules/client-host"
  count  = var.host ? 1 : 0

  account_id = "{_ACCOUNT}"
  name       = "penstock-audit"
  region     = "eu-central-1"
  network = {{
    vpc_id     = module.network.vpc_id
    subnet_ids = values(module.network.subnet_ids)
  }}
}}

resource "aws_security_group" "own" {{
  name        = "own"
  description = "A group that is there already"
  vpc_id      = module.network.vpc_id
}}

# As both roots name them.
locals {{
  host    = {{ for host in module.host : "audit (host)" => host.security_group_id }}
  clients = var.host ? local.host : {{ audit = aws_security_group.own.id }}
}}

module "network" {{
  source = "./modules/network"

  account_id          = "{_ACCOUNT}"
  prefix              = "penstock"
  region              = "eu-central-1"
  clients             = local.clients
  gateway_endpoints   = ["s3"]
  interface_endpoints = ["sts"]
  zone_ids            = var.zones
}}

output "own" {{
  value = aws_security_group.own.id
}}
"""


def test_a_zone_and_a_host_are_left_before_they_go(cloud, client, tmp_path):
    (tmp_path / "main.tf").write_text(_ROOT)
    copy_infra(_MODULES, tmp_path / "root/modules")
    network = Terraform(tmp_path / "main.tf", tmp_path / "root", cloud.endpoint, _ACCOUNT)
    network.apply(zones=["euc1-az1", "euc1-az2", "euc1-az3"], host=True)

    network.apply(zones=["euc1-az1", "euc1-az2"], host=False)

    ec2 = client("ec2", account=_ACCOUNT)
    (endpoint,) = ec2.describe_vpc_endpoints(
        Filters=[{"Name": "vpc-endpoint-type", "Values": ["Interface"]}]
    )["VpcEndpoints"]
    assert len(endpoint["SubnetIds"]) == 2
    own = [{"Name": "group-id", "Values": [endpoint["Groups"][0]["GroupId"]]}]
    rules = ec2.describe_security_group_rules(Filters=own)["SecurityGroupRules"]
    admitted = {each["ReferencedGroupInfo"]["GroupId"] for each in rules if not each["IsEgress"]}
    assert admitted == {network.outputs()["own"]}
    network.destroy(zones=["euc1-az1", "euc1-az2"], host=False)
