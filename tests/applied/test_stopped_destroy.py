"""A destroy or a replacement stops at what holds data, and leaves what that needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fixtures.terraform import Terraform
from tools.local_root import allow_destroy, copy_infra, run_terraform

pytestmark = [pytest.mark.terraform, pytest.mark.timeout(900)]

_ACCOUNT = "930000000006"
_BUCKET = f"penstock-lake-{_ACCOUNT}-eu-central-1"
_MODULES = Path(__file__).parents[2] / "infra/modules"
_PROVIDER = """
provider "aws" {
  region = "eu-central-1"
}
"""
_LAKE = f"""
module "lake" {{
  source = "./modules/lake"

  account_id = "{_ACCOUNT}"
  prefix     = "penstock"
  region     = "eu-central-1"
}}
"""
_REGISTRY = f"""
module "schema_registry" {{
  source = "./modules/schema-registry"

  account_id = "{_ACCOUNT}"
  name       = "kept"
  prefix     = "penstock"
  region     = "eu-central-1"
}}
"""

_TABLES = f"""
variable "shape" {{
  type = any
}}

module "row_shapes" {{
  source = "./modules/row-shapes"

  names  = ["orders"]
  tables = {{ orders = var.shape }}
}}

module "tables" {{
  source = "./modules/reading-store"

  account_id = "{_ACCOUNT}"
  errors     = []
  prefix     = "penstock"
  region     = "eu-central-1"
  tables     = module.row_shapes.shapes
}}
"""
_ORDERS = {"event_time": "none", "key": ["orderId"], "mode": "upsert", "sort_name": "none"}
_FIXED = "module.tables.terraform_data.fixed"


@pytest.fixture
def apply(cloud, tmp_path):
    """Apply a root of one module."""

    def apply_module(call, **variables):
        root = tmp_path / "main.tf"
        root.write_text(_PROVIDER + call)
        copy_infra(_MODULES, tmp_path / "root/modules")
        made = Terraform(root, tmp_path / "root", cloud.endpoint, _ACCOUNT)
        made.apply(**variables)
        return made

    return apply_module


def test_a_registry_is_destroyed_only_with_the_override_file(apply, client):
    """One that an interrupted apply left tainted is kept by `untaint`."""
    registry, address = apply(_REGISTRY), "module.schema_registry.aws_glue_registry.this"
    glue = client("glue", account=_ACCOUNT)

    with pytest.raises(pytest.fail.Exception, match="Instance cannot be destroyed"):
        registry.destroy()

    assert [each["RegistryName"] for each in glue.list_registries()["Registries"]] == ["kept"]
    _run(registry, "taint", address)

    with pytest.raises(pytest.fail.Exception, match="Instance cannot be destroyed"):
        registry.apply()

    assert "(tainted)" in _run(registry, "state", "show", address)
    _run(registry, "untaint", address)
    assert not registry.has_changes()
    allow_destroy(registry.folder)
    registry.destroy(refresh=True)
    assert glue.list_registries()["Registries"] == []


def test_a_bucket_with_objects_keeps_its_key_and_its_database(apply, client):
    lake = apply(_LAKE)
    s3, kms, glue = (client(name, account=_ACCOUNT) for name in ("s3", "kms", "glue"))
    s3.put_object(Bucket=_BUCKET, Key="tables/readings/data.parquet", Body=b"rows")

    with pytest.raises(pytest.fail.Exception, match="BucketNotEmpty"):
        lake.destroy()

    [key] = kms.list_keys()["Keys"]
    assert kms.describe_key(KeyId=key["KeyId"])["KeyMetadata"]["KeyState"] == "Enabled"
    assert glue.get_database(Name="penstock_lake")["Database"]["Name"] == "penstock_lake"


def test_a_table_of_rows_that_would_be_compared_otherwise_is_kept(apply, client):
    tables = apply(_TABLES, shape=_ORDERS)

    for _ in range(2):  # the first refusal must leave the second
        with pytest.raises(pytest.fail.Exception, match="DeletionProtectionEnabled"):
            tables.apply(shape=_ORDERS | {"order": ["revision"]})

    shown = client("dynamodb", account=_ACCOUNT).describe_table(TableName="penstock-orders")
    assert shown["Table"]["TableStatus"] == "ACTIVE"
    same = _ORDERS | {"event_time": "placed", "order": None, "tombstone": "delete"}
    assert not tables.has_changes(shape=same)
    _run(tables, "state", "rm", _FIXED)  # as the state of a version that did not keep it
    changes = tables.plan(shape=_ORDERS)["resource_changes"]
    actions = {one["address"]: one["change"]["actions"] for one in changes}
    assert actions[f'{_FIXED}["orders"]'] == ["create"]
    assert actions['module.tables.aws_dynamodb_table.readings["orders"]'] == ["no-op"]


def _run(root, *words):
    """Run Terraform in a root, and return what it prints."""
    done = run_terraform(root.folder, root.environ, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout
