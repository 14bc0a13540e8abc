"""Subnets in a zone given by its id: moto makes the first one of each VPC the zone's default.

A default subnet gives its instances public addresses. Terraform's provider turns that off and waits
ten seconds for it.
"""

from __future__ import annotations

from urllib.parse import parse_qsl, urlencode

from moto.ec2.models import ec2_backends

from localcloud.door.operations import Call, HttpAnswer, operation


@operation("ec2", "CreateSubnet")
def create_subnet(call: Call) -> HttpAnswer:
    """Create a subnet with its zone's name instead of its id; moto refuses an unknown id."""
    zones = ec2_backends[call.account][call.region].describe_availability_zones()
    name = next(
        (it.name for it in zones if it.zone_id == call.params.get("AvailabilityZoneId")), ""
    )
    if name:
        request = dict(parse_qsl(call.body.decode()))
        del request["AvailabilityZoneId"]
        call.body = urlencode(request | {"AvailabilityZone": name}).encode()
    return call.forward()
