"""EC2 where moto differs from AWS: endpoint services, endpoints, groups, instances, VPCs."""

from __future__ import annotations

from localcloud.services.ec2 import (
    aws_services,
    connection_notifications,
    endpoint_services,
    endpoints,
    instances,
    security_groups,
    subnets,
    vpcs,
)

__all__ = [
    "aws_services",
    "connection_notifications",
    "endpoint_services",
    "endpoints",
    "instances",
    "security_groups",
    "subnets",
    "vpcs",
]
