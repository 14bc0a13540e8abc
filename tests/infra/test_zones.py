"""The subnets of zones stay as they are in whatever order the zones are given later."""

from __future__ import annotations

import json
from functools import partial

import pytest

from tests.infra.plans import ROOT
from tools.local_root import copy_infra, local_environ, run_terraform
from tools.terraform import VERSION, init_words

pytestmark = [pytest.mark.terraform, pytest.mark.timeout(900)]

_ACCOUNT, _REGION = "930000000007", "eu-central-1"
_CALL = """
module "{name}" {{
  source = "./modules/network"

  account_id        = "{account}"
  prefix            = "{name}"
  region            = "{region}"
  cidr              = "{cidr}"
  gateway_endpoints = []
  zone_ids          = {zones}
}}
"""
_TURNED = ["euc1-az2", "euc1-az1"]
_NETWORKS = {"same": ("10.0.0.0/16", _TURNED)}
_MADE = {"euc1-az1": "10.0.0.0/18", "euc1-az2": "10.0.64.0/18"}


@pytest.fixture(scope="module")
def plan(cloud, tmp_path_factory):
    """Plan networks that were made with the other order of zones, in a root of their own."""
    folder = tmp_path_factory.mktemp("zones")
    copy_infra(ROOT / "infra/modules", folder / "modules")
    environ = local_environ(cloud.endpoint, _ACCOUNT, _REGION)

    def run(networks):
        given = {"account": _ACCOUNT, "region": _REGION}
        calls = [
            _CALL.format(name=name, cidr=cidr, zones=json.dumps(zones), **given)
            for name, (cidr, zones) in networks.items()
        ]
        (folder / "main.tf").write_text(
            f'provider "aws" {{\n  region = "{_REGION}"\n}}\n{"".join(calls)}'
        )
        resources = [one for name in networks for one in _made(f"module.{name}")]
        state = {"version": 4, "serial": 1, "lineage": "zones", "resources": resources}
        (folder / "terraform.tfstate").write_text(json.dumps(state))
        done = run_terraform(folder, environ, *init_words(VERSION, environ))
        assert done.returncode == 0, done.stdout + done.stderr
        planned = run_terraform(folder, environ, "plan", "-refresh=false", "-out=plan")
        return planned, partial(run_terraform, folder, environ, "show", "-json", "plan")

    return run


@pytest.fixture(scope="module")
def changes(plan):
    """The changes of a plan, by address."""
    planned, show = plan(_NETWORKS)
    assert planned.returncode == 0, planned.stdout + planned.stderr
    found = json.loads(show().stdout)["resource_changes"]
    return {one["address"]: one["change"] for one in found}


def _made(module):
    """Write a VPC and its subnets as a state has them."""
    vpc = {"id": "vpc-1", "cidr_block": "10.0.0.0/16", "instance_tenancy": "default"}
    subnet = {"id": "subnet-1", "vpc_id": "vpc-1", "ipv6_native": False}
    subnets = {
        zone: subnet | {"availability_zone_id": zone, "cidr_block": cidr}
        for zone, cidr in _MADE.items()
    }
    yield _resource(module, "aws_vpc", "this", {0: vpc})
    yield _resource(module, "aws_subnet", "private", subnets)


def _resource(module, kind, name, instances):
    return {
        "module": module,
        "mode": "managed",
        "type": kind,
        "name": name,
        "provider": 'provider["registry.terraform.io/hashicorp/aws"]',
        "instances": [
            {"index_key": key, "schema_version": 1, "attributes": attributes}
            for key, attributes in instances.items()
        ],
    }


@pytest.mark.parametrize("zone", _MADE)
def test_another_order_of_zones_replaces_no_subnet(changes, zone):
    change = changes[f'module.same.aws_subnet.private["{zone}"]']

    assert "delete" not in change["actions"]
    assert change["after"]["cidr_block"] == _MADE[zone]


def test_a_zone_in_a_range_that_another_one_keeps_is_refused(plan):
    planned, _ = plan({"moved": ("10.0.0.0/16", ["euc1-az2", "euc1-az3"])})

    assert planned.returncode == 1
    assert "by their places two of its zones would have one range" in " ".join(
        planned.stderr.replace("│", "").split()
    )


def test_another_range_is_refused_before_anything_is_deleted(plan):
    planned, _ = plan({"other": ("10.4.0.0/16", _TURNED)})

    assert planned.returncode == 1
    assert "cidr is 10.4.0.0/16, and the VPC vpc-1 has 10.0.0.0/16, which it keeps" in " ".join(
        planned.stderr.replace("│", "").split()
    )
