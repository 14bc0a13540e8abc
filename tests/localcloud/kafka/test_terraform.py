"""Terraform's provider makes, changes and destroys a cluster; its second plans are empty."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.terraform

_PLUGINS = os.environ.get("TF_PLUGIN_DIR", "/opt/tf-plugins")
_NO_CHANGE = 0


@pytest.fixture
def terraform(cloud, pretended, tmp_path):
    """Run a command of terraform on msk.tf against localcloud; returns exit code and output."""
    shutil.copy(Path(__file__).with_name("msk.tf"), tmp_path / "main.tf")
    environ = {name: value for name, value in os.environ.items() if not name.startswith("TF_")}
    environ |= {
        "AWS_ENDPOINT_URL": cloud.endpoint,
        "AWS_ACCESS_KEY_ID": "111111111111",
        "AWS_SECRET_ACCESS_KEY": "any",
        "AWS_EC2_METADATA_DISABLED": "true",
        "CHECKPOINT_DISABLE": "1",
    }

    def run(*words, **variables):
        given = {f"TF_VAR_{name}": json.dumps(value) for name, value in variables.items()}
        done = subprocess.run(
            ["terraform", *words],
            cwd=tmp_path,
            env=environ | given,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    code, output = run("init", "-input=false", "-no-color", f"-plugin-dir={_PLUGINS}")
    assert code == 0, output
    return run


def test_the_provider_is_content(terraform, pretended):
    wanted = {"broker_count": 2, "partitions": 3, "connectable": False}
    _apply(terraform, wanted)
    brokers = pretended["terraform"]
    assert brokers.users == {"anna": "a-1"}
    assert brokers.properties["num.partitions"] == "3"
    shown = json.loads(terraform("output", "-json")[1])
    assert len(shown["endpoints"]["value"]) == 2
    hosts = [server.partition(":")[0] for server in shown["bootstrap"]["value"].split(",")]
    assert hosts == shown["endpoints"]["value"]

    wanted |= {"partitions": 5, "connectable": True}
    _apply(terraform, wanted)
    assert brokers.properties["num.partitions"] == "5"
    wanted["broker_count"] = 4
    _apply(terraform, wanted)
    assert ("add", {3: "eu-central-1a", 4: "eu-central-1b"}) in brokers.done

    code, output = terraform("destroy", "-auto-approve", "-no-color", **wanted)
    assert code == 0, output
    assert brokers.done[-1] == "stop"


def _apply(terraform, wanted):
    """Apply, and see that a second plan has nothing to do."""
    code, output = terraform("apply", "-auto-approve", "-no-color", **wanted)
    assert code == 0, output
    code, output = terraform("plan", "-detailed-exitcode", "-no-color", **wanted)
    assert code == _NO_CHANGE, output
