"""An existing VPC must resolve private names; a plan says so before an apply stops half-way."""

from __future__ import annotations

import pytest

from tests.fixtures.terraform import read_errors
from tests.infra.plans import ROOT
from tools.local_root import copy_infra, local_environ, run_terraform
from tools.terraform import VERSION, init_words

pytestmark = [pytest.mark.terraform, pytest.mark.timeout(900)]

_ACCOUNT = "930000000003"
_NETWORK = """
provider "aws" {{
  region = "eu-central-1"
}}

module "network" {{
  source = "./modules/network"

  account_id = "{account}"
  prefix     = "penstock"
  region     = "eu-central-1"
  zone_ids   = ["euc1-az1", "euc1-az2"]
  existing = {{
    vpc_id          = "{vpc}"
    route_table_ids = ["rtb-0123456789abcdef0"]
    subnet_ids      = {{ euc1-az1 = "subnet-1", euc1-az2 = "subnet-2" }}
  }}
}}
"""


@pytest.fixture(scope="module")
def vpc(client):
    return client("ec2", _ACCOUNT).create_vpc(CidrBlock="10.3.0.0/16")["Vpc"]["VpcId"]


@pytest.fixture(scope="module")
def plan(cloud, vpc, tmp_path_factory):
    """Plan the module in that VPC, and return the errors."""
    folder = tmp_path_factory.mktemp("network")
    (folder / "main.tf").write_text(_NETWORK.format(account=_ACCOUNT, vpc=vpc))
    copy_infra(ROOT / "infra/modules", folder / "modules")
    environ = local_environ(cloud.endpoint, _ACCOUNT, "eu-central-1")
    assert run_terraform(folder, environ, *init_words(VERSION, environ)).returncode == 0
    return lambda: read_errors(run_terraform(folder, environ, "plan", "-json").stdout)


def test_a_vpc_without_dns_hostnames_is_refused_by_the_plan(client, vpc, plan):
    (refused,) = plan()
    assert f"The VPC {vpc} has DNS hostnames off and DNS resolution on, and private" in refused.text

    hostnames = {"EnableDnsHostnames": {"Value": True}}
    client("ec2", _ACCOUNT).modify_vpc_attribute(VpcId=vpc, **hostnames)
    assert plan() == []
