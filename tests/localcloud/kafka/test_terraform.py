"""Terraform's provider makes, changes and destroys a cluster; its second plans are empty."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fixtures.terraform import Terraform

pytestmark = pytest.mark.terraform

_ROOT = Path(__file__).with_name("msk.tf")


def test_the_provider_is_content(cloud, pretended, tmp_path):
    terraform = Terraform(_ROOT, tmp_path, cloud.endpoint, "111111111111")
    wanted = {"broker_count": 2, "partitions": 3, "connectable": False}
    _apply(terraform, wanted)
    brokers = pretended["terraform"]
    assert brokers.users == {"anna": "a-1"}
    assert brokers.properties["num.partitions"] == "3"
    shown = terraform.outputs()
    assert len(shown["endpoints"]) == 2
    hosts = [server.partition(":")[0] for server in shown["bootstrap"].split(",")]
    assert hosts == shown["endpoints"]

    wanted |= {"partitions": 5, "connectable": True}
    _apply(terraform, wanted)
    assert brokers.properties["num.partitions"] == "5"
    wanted["broker_count"] = 4
    _apply(terraform, wanted)
    zones = next(step[1] for step in brokers.done if step[0] == "add")
    assert zones.keys() == {3, 4}
    # One more in each zone; which comes first is the order of the subnets' ids, a set to Terraform.
    assert sorted(zones.values()) == ["eu-central-1a", "eu-central-1b"]

    terraform.destroy(**wanted)
    assert brokers.done[-1] == "stop"


def _apply(terraform, wanted):
    """Apply, and see that a second plan has nothing to do."""
    terraform.apply(**wanted)
    assert not terraform.has_changes(**wanted)
