"""EC2 where moto differs from AWS: endpoint services, endpoints, subnets."""

from __future__ import annotations

from localcloud.services.ec2 import endpoint_services, endpoints, subnets

__all__ = ["endpoint_services", "endpoints", "subnets"]
