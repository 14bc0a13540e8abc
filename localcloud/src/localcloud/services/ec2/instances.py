"""Instances and launch templates where moto shows, or leaves behind, more than was given."""

from __future__ import annotations

import dataclasses

from moto.ec2.models import ec2_backends

from localcloud.door.operations import Call, HttpAnswer, operation


@operation("ec2", "DescribeInstanceAttribute")
def describe_instance_attribute(call: Call) -> HttpAnswer:
    """Return an attribute; user data that nobody has given has no value."""
    answer = call.forward()
    return dataclasses.replace(
        answer, body=answer.body.replace(b"<userData><value/></userData>", b"<userData/>")
    )


@operation("ec2", "CreateLaunchTemplate")
def create_launch_template(call: Call) -> HttpAnswer:
    """Create a template; its own tags are not those of what it starts, where moto adds them."""
    answer = call.forward()
    for template in list(ec2_backends[call.account][call.region].launch_templates.values()):
        for version in template.versions:
            given = version.data.pop("TagSpecifications", [])
            if kept := [one for one in given if one["ResourceType"] != "launch-template"]:
                version.data["TagSpecifications"] = kept
    return answer


@operation("ec2", "RunInstances")
def run_instances(call: Call) -> HttpAnswer:
    """Start instances, whose own interfaces end with them; moto leaves those behind."""
    answer = call.forward()
    if "NetworkInterfaces" not in call.params:
        for reservation in list(ec2_backends[call.account][call.region].reservations.values()):
            for instance in reservation.instances:
                for interface in instance.nics.values():
                    interface.delete_on_termination = True
    return answer
