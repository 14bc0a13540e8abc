"""Instances without user data: moto shows an empty value, of which Terraform makes a change."""

from __future__ import annotations

import dataclasses

from localcloud.door.operations import Call, HttpAnswer, operation


@operation("ec2", "DescribeInstanceAttribute")
def describe_instance_attribute(call: Call) -> HttpAnswer:
    """Return an attribute; user data that nobody has given has no value."""
    answer = call.forward()
    return dataclasses.replace(
        answer, body=answer.body.replace(b"<userData><value/></userData>", b"<userData/>")
    )
