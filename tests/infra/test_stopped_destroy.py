"""A destroy stops at what holds data, and leaves what that needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fixtures.terraform import Terraform
from tools.local_root import allow_destroy, copy_infra

pytestmark = [pytest.mark.terraform, pytest.mark.timeout(900)]

_ACCOUNT = "930000000002"
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


@pytest.fixture
def apply(cloud, tmp_path):
    """Apply a root of one module."""

    def apply_module(call):
        root = tmp_path / "main.tf"
        root.write_text(_PROVIDER + call)
        copy_infra(_MODULES, tmp_path / "root/modules")
        made = Terraform(root, tmp_path / "root", cloud.endpoint, _ACCOUNT)
        made.apply()
        return made

    return apply_module


def test_a_registry_is_destroyed_only_with_the_override_file(apply, client):
    registry = apply(_REGISTRY)

    with pytest.raises(pytest.fail.Exception, match="Instance cannot be destroyed"):
        registry.destroy()

    names = [
        it["RegistryName"]
        for it in client("glue", account=_ACCOUNT).list_registries()["Registries"]
    ]
    assert names == ["kept"]
    allow_destroy(registry.folder)
    registry.destroy()
    assert client("glue", account=_ACCOUNT).list_registries()["Registries"] == []


def test_a_bucket_with_objects_keeps_its_key_and_its_database(apply, client):
    lake = apply(_LAKE)
    s3, kms, glue = (client(name, account=_ACCOUNT) for name in ("s3", "kms", "glue"))
    s3.put_object(Bucket=_BUCKET, Key="tables/readings/data.parquet", Body=b"rows")

    with pytest.raises(pytest.fail.Exception, match="BucketNotEmpty"):
        lake.destroy()

    [key] = kms.list_keys()["Keys"]
    assert kms.describe_key(KeyId=key["KeyId"])["KeyMetadata"]["KeyState"] == "Enabled"
    assert glue.get_database(Name="penstock_lake")["Database"]["Name"] == "penstock_lake"
