"""Terraform's provider makes the way of PrivateLink: it is complete, and nothing is left to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from localcloud.errors import MissingHopError
from localcloud.network import Node, Nodes, Source, trace
from tests.fixtures.terraform import Terraform

# Load balancers take 60 s and zones up to 60 s of waiting inside the provider.
pytestmark = [pytest.mark.terraform, pytest.mark.timeout(400)]

_ROOT = Path(__file__).with_name("private_link.tf")


def test_what_terraform_makes_is_a_complete_way(cloud, tmp_path):
    terraform = Terraform(_ROOT, tmp_path, cloud.endpoint, "111111111111")
    terraform.apply()
    assert not terraform.has_changes()
    broker = terraform.outputs()["broker"]
    nodes, source = cloud.state(Nodes), Source(broker["vpc"])
    nodes.plug(Node(broker["host"], broker["interface"], "127.0.0.1"))

    found = trace(nodes, source, broker["host"], broker["port"])

    assert found.missing is None
    nodes.unplug(broker["interface"])
    terraform.destroy()
    with pytest.raises(MissingHopError, match=f"there is no VPC {broker['vpc']} in any account"):
        trace(nodes, source, broker["host"], broker["port"])
