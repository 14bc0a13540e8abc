"""The endpoint that the connector's extension had is the root's, and no upgrade makes it again."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.infra.plans import ROOT
from tools.local_root import EXTENSIONS_FILE, copy_infra, local_environ, run_terraform
from tools.terraform import VERSION, init_words

pytestmark = [pytest.mark.terraform, pytest.mark.timeout(900)]

_ACCOUNT = "930000000006"
_REGION = "eu-central-1"
_OLD = 'module.cdc.aws_vpc_endpoint.services["secretsmanager"]'
_NEW = 'module.network.aws_vpc_endpoint.interface["secretsmanager"]'
_CALL = """
module "cdc" {
  source   = "../extensions/cdc"
  platform = local.platform
  name     = "films"
  database = { name = "films", instance = {} }
  plugin   = "../../tests/data/tiny.zip"
  registry = { url = "https://apicurio.example.com", cidr = "10.1.0.0/16" }
  tables   = ["public.film"]
}
"""


@pytest.fixture(scope="module")
def network(client):
    """A VPC of the root, with the endpoint of the extension, and the endpoint's id."""
    ec2 = client("ec2", _ACCOUNT)
    vpc = ec2.create_vpc(CidrBlock="10.3.0.0/16")["Vpc"]["VpcId"]
    ec2.modify_vpc_attribute(VpcId=vpc, EnableDnsHostnames={"Value": True})
    subnets = {
        zone: ec2.create_subnet(VpcId=vpc, CidrBlock=cidr, AvailabilityZoneId=zone)["Subnet"]
        for zone, cidr in {"euc1-az1": "10.3.0.0/24", "euc1-az2": "10.3.1.0/24"}.items()
    }
    ids = {zone: subnet["SubnetId"] for zone, subnet in subnets.items()}
    (table,) = ec2.describe_route_tables(Filters=[{"Name": "vpc-id", "Values": [vpc]}])[
        "RouteTables"
    ]
    endpoint = ec2.create_vpc_endpoint(
        VpcEndpointType="Interface",
        VpcId=vpc,
        ServiceName=f"com.amazonaws.{_REGION}.secretsmanager",
        SubnetIds=list(ids.values()),
        PrivateDnsEnabled=True,
    )["VpcEndpoint"]["VpcEndpointId"]
    existing = {"vpc_id": vpc, "route_table_ids": [table["RouteTableId"]], "subnet_ids": ids}
    return existing, endpoint


def test_the_endpoint_of_the_extension_is_moved_into_the_root(cloud, network, tmp_path):
    existing, endpoint = network
    root = _copy_root(tmp_path)
    (root / EXTENSIONS_FILE).write_text(_CALL)
    (root / "terraform.tfstate").write_text(json.dumps(_state_with(endpoint)))
    given = {
        "account_id": _ACCOUNT,
        "region": _REGION,
        "network": {
            "zone_ids": list(existing["subnet_ids"]),
            "interface_endpoints": ["secretsmanager"],
            "existing": existing,
        },
    }
    (root / "terraform.tfvars.json").write_text(json.dumps(given))

    changes = {one["address"]: one for one in _plan(root, cloud.endpoint)["resource_changes"]}

    assert _OLD not in changes
    assert changes[_NEW]["previous_address"] == _OLD
    assert changes[_NEW]["change"]["actions"] == ["update"]


def _copy_root(folder):
    copy_infra(ROOT / "infra", folder / "infra")
    (folder / "tests/data").mkdir(parents=True)
    (folder / "build").mkdir()
    tiny = ROOT / "tests/data/tiny.zip"
    built = [f"build/{name}-lambda.zip" for name in ("access", "producer", "status")]
    for path in ("tests/data/tiny.zip", *built):
        shutil.copy(tiny, folder / path)
    return folder / "infra/producer"


def _state_with(endpoint):
    """Write a state that has an endpoint alone, as the extension made it."""
    resource = {
        "module": "module.cdc",
        "mode": "managed",
        "type": "aws_vpc_endpoint",
        "name": "services",
        "provider": 'provider["registry.terraform.io/hashicorp/aws"]',
        "instances": [
            {
                "index_key": "secretsmanager",
                "schema_version": 0,
                "attributes": {"id": endpoint},
            }
        ],
    }
    return {"version": 4, "serial": 1, "lineage": "moved", "resources": [resource]}


def _plan(root, endpoint):
    environ = local_environ(endpoint, _ACCOUNT, _REGION)
    for words in (init_words(VERSION, environ), ("plan", "-out=plan"), ("show", "-json", "plan")):
        done = run_terraform(root, environ, *words)
        assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)
