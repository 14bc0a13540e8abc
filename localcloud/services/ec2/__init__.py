"""EC2's PrivateLink and what moto lacks around it: endpoint services, endpoints, group rules."""

from __future__ import annotations

from localcloud.services.ec2 import endpoint_services, endpoints, security_groups

__all__ = ["endpoint_services", "endpoints", "security_groups"]
