"""Terraform's provider makes, changes and deletes registry, catalog and application."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fixtures.terraform import Terraform
from tests.localcloud.glue.definitions import FIRST, REFUSED, SECOND

# The provider waits 30 s before it looks at an application that it made or deleted.
pytestmark = [pytest.mark.terraform, pytest.mark.timeout(400)]

_ACCOUNT = "930000000001"
_ROOT = Path(__file__).with_name("lake.tf")


def test_what_terraform_makes_stays_as_it_is_and_evolves(cloud, client, tmp_path):
    terraform = Terraform(_ROOT, tmp_path, cloud.endpoint, _ACCOUNT)
    glue, emr = client("glue", account=_ACCOUNT), client("emr-serverless", account=_ACCOUNT)
    readings = {"RegistryName": "plant", "SchemaName": "readings"}
    made = {"definition": FIRST, "compatibility": "BACKWARD"}
    grown = {"definition": SECOND, "compatibility": "FULL"}

    terraform.apply(**made)
    assert not terraform.has_changes(**made)
    terraform.apply(**grown)
    assert not terraform.has_changes(**grown)
    found = glue.get_schema(SchemaId=readings)
    assert (found["LatestSchemaVersion"], found["Compatibility"]) == (2, "FULL")

    # Nobody tells Terraform that a version is refused: its next plan wants the same again.
    refused = grown | {"definition": REFUSED}
    terraform.apply(**refused)
    assert terraform.has_changes(**refused)

    terraform.destroy(**made)
    assert glue.list_registries()["Registries"] == []
    assert [each["state"] for each in emr.list_applications()["applications"]] == ["TERMINATED"]
