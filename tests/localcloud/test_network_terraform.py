"""Terraform's provider makes the way of PrivateLink: it is complete, and nothing is left to do."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from localcloud.errors import MissingHopError
from localcloud.network import Node, Nodes, Source, trace

# Load balancers take 60 s and zones up to 60 s of waiting inside the provider.
pytestmark = [pytest.mark.terraform, pytest.mark.timeout(400)]


@pytest.fixture
def terraform(cloud, tmp_path):
    """Run a command of terraform on private_link.tf; returns what it prints."""
    shutil.copy(Path(__file__).with_name("private_link.tf"), tmp_path / "main.tf")
    environ = {name: value for name, value in os.environ.items() if not name.startswith("TF_")}
    environ |= {
        "AWS_ENDPOINT_URL": cloud.endpoint,
        "AWS_EC2_METADATA_DISABLED": "true",
        "CHECKPOINT_DISABLE": "1",
    }

    def run(*words):
        done = subprocess.run(
            ["terraform", *words],
            cwd=tmp_path,
            env=environ,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run("init", "-input=false", f"-plugin-dir={os.environ.get('TF_PLUGIN_DIR', '/opt/tf-plugins')}")
    return run


def test_what_terraform_makes_is_a_complete_way(cloud, terraform):
    terraform("apply", "-auto-approve", "-no-color")
    terraform("plan", "-detailed-exitcode", "-no-color")  # 0: no changes
    broker = json.loads(terraform("output", "-json"))["broker"]["value"]
    nodes, source = cloud.state(Nodes), Source(broker["vpc"])
    nodes.plug(Node(broker["host"], broker["interface"], "127.0.0.1"))

    found = trace(nodes, source, broker["host"], broker["port"])

    assert found.missing is None
    nodes.unplug(broker["interface"])
    terraform("destroy", "-auto-approve", "-no-color")
    with pytest.raises(MissingHopError, match=f"there is no VPC {broker['vpc']} in any account"):
        trace(nodes, source, broker["host"], broker["port"])
