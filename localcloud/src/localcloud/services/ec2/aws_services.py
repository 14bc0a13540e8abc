"""The services of AWS that a VPC can have an endpoint for.

moto collects them from its services, some of which need packages that are not installed here.
"""

from __future__ import annotations

from typing import Any

from moto.core.base_backend import BaseBackend
from moto.ec2.models.availability_zones_and_regions import RegionsAndZonesBackend
from moto.ec2.models.vpcs import (
    AWS_ENDPOINT_SERVICES,
    DEFAULT_VPC_ENDPOINT_SERVICES,
    ENDPOINT_SERVICE_COLLECTION_LOCK,
)

from localcloud.door.operations import Call, HttpAnswer, operation
from localcloud.services.ec2.endpoints import emr_service

_BY_GATEWAY = {"dynamodb": "Gateway", "s3": "Gateway"}


@operation("ec2", "DescribeVpcEndpointServices")
def describe_vpc_endpoint_services(call: Call) -> HttpAnswer:
    """Let moto list the services, in all zones of the region."""
    with ENDPOINT_SERVICE_COLLECTION_LOCK:
        if call.region not in DEFAULT_VPC_ENDPOINT_SERVICES:
            zones = [zone.name for zone in RegionsAndZonesBackend.zones[call.region]]
            DEFAULT_VPC_ENDPOINT_SERVICES[call.region] = [
                service
                for name in AWS_ENDPOINT_SERVICES
                for service in BaseBackend.default_vpc_endpoint_service_factory(
                    call.region, zones, name, _BY_GATEWAY.get(name, "Interface")
                )
            ] + [_emr_service(call.region, zones)]
    return call.forward()


def _emr_service(region: str, zones: list[str]) -> dict[str, Any]:
    """Describe the service of EMR's clusters, whose name has another form."""
    (made,) = BaseBackend.default_vpc_endpoint_service_factory(region, zones, "emr-service-cell01")
    return made | {"ServiceName": emr_service(region)}
