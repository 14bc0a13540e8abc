"""Terraform's provider makes, changes and deletes registry, catalog and application."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.localcloud.glue.definitions import FIRST, REFUSED, SECOND

# The provider waits 30 s before it looks at an application that it made or deleted.
pytestmark = [pytest.mark.terraform, pytest.mark.timeout(400)]

_ACCOUNT = "930000000001"
_PLUGINS = os.environ.get("TF_PLUGIN_DIR", "/opt/tf-plugins")


@pytest.fixture
def terraform(cloud, tmp_path):
    """Run a command of terraform on lake.tf, with variables; give its exit code."""
    shutil.copy(Path(__file__).with_name("lake.tf"), tmp_path / "main.tf")
    environ = {name: value for name, value in os.environ.items() if not name.startswith("TF_")}
    environ |= {
        "AWS_ACCESS_KEY_ID": _ACCOUNT,
        "AWS_SECRET_ACCESS_KEY": "any",
        "AWS_ENDPOINT_URL": cloud.endpoint,
        "AWS_EC2_METADATA_DISABLED": "true",
        "CHECKPOINT_DISABLE": "1",
    }

    def run(*words, definition=FIRST, compatibility="BACKWARD"):
        given = {"TF_VAR_definition": definition, "TF_VAR_compatibility": compatibility}
        command = ["terraform", *words, "-no-color"]
        done = subprocess.run(
            command, cwd=tmp_path, env=environ | given, capture_output=True, text=True, check=False
        )
        assert done.returncode in {0, 2}, done.stdout + done.stderr
        return done.returncode

    run("init", "-input=false", f"-plugin-dir={_PLUGINS}")
    return run


_NO_CHANGES, _CHANGES = 0, 2


def test_what_terraform_makes_stays_as_it_is_and_evolves(client, terraform):
    glue, emr = client("glue", account=_ACCOUNT), client("emr-serverless", account=_ACCOUNT)
    readings = {"RegistryName": "plant", "SchemaName": "readings"}
    grown = {"definition": SECOND, "compatibility": "FULL"}

    terraform("apply", "-auto-approve")
    assert terraform("plan", "-detailed-exitcode") == _NO_CHANGES
    terraform("apply", "-auto-approve", **grown)
    assert terraform("plan", "-detailed-exitcode", **grown) == _NO_CHANGES
    found = glue.get_schema(SchemaId=readings)
    assert (found["LatestSchemaVersion"], found["Compatibility"]) == (2, "FULL")

    # Nobody tells Terraform that a version is refused: its next plan wants the same again.
    refused = grown | {"definition": REFUSED}
    terraform("apply", "-auto-approve", **refused)
    assert terraform("plan", "-detailed-exitcode", **refused) == _CHANGES

    terraform("destroy", "-auto-approve")
    assert glue.list_registries()["Registries"] == []
    assert [each["state"] for each in emr.list_applications()["applications"]] == ["TERMINATED"]
