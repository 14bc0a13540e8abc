"""Instances are as they were started."""

from __future__ import annotations

import base64

import pytest


@pytest.mark.parametrize(("given", "shown"), [(None, {}), ("echo", {"Value": "echo"})])
def test_user_data_that_was_not_given_has_no_value(client, given, shown):
    ec2 = client("ec2")
    wanted = {"UserData": given} if given else {}
    made = ec2.run_instances(ImageId="ami-12345678", MinCount=1, MaxCount=1, **wanted)
    (instance,) = made["Instances"]

    found = ec2.describe_instance_attribute(
        InstanceId=instance["InstanceId"], Attribute="userData"
    )["UserData"]

    assert {name: base64.b64decode(value).decode() for name, value in found.items()} == shown
